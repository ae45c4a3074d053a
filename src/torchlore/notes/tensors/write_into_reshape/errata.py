"""What the documents wrote about view and reshape."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E089",
        where="001:81",
        written="b.view(3,4) must be contiguous",
        proof="x = torch.zeros(4, 6)[:, :3]\nprint(x.is_contiguous(), tuple(x.view(2, 2, 3).shape))",
        happens="False (2, 2, 3)",
        instead="A view needs dimensions that can be merged or split in place, not a contiguous tensor.",
    ),
)
