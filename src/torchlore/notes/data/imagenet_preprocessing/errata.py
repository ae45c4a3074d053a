"""What the documents wrote about ImageNet transforms."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E028",
        where="003:409",
        written=" val_transform = torchvision.transforms.Compose([",
        proof='compile("train_transform = [\\n ]\\n val_transform = [\\n]", "003", "exec")',
        happens="IndentationError: unexpected indent",
        instead="No space before `val_transform`.",
    ),
)
