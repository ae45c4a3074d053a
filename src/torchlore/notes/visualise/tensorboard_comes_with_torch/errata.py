"""What the documents wrote about TensorBoard."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E102",
        where="003:494",
        written="Facebook: TensorboardX: https://pytorch.org/docs/stable/tensorboard.html",
        proof="import importlib.util\nprint(importlib.util.find_spec('torch.utils.tensorboard').name)",
        happens="torch.utils.tensorboard",
        instead="The link leads to `torch.utils.tensorboard`, which comes with torch; tensorboardX is another project.",
    ),
)
