"""What the documents wrote about modules()."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E106",
        where="004:42-47",
        written="0 -> Sequential ( (0): Linear (2 -> 2) ...",
        proof="from torch import nn\nprint(nn.Linear(2, 2))",
        happens="Linear(in_features=2, out_features=2, bias=True)",
        instead="The printed form is that of torch 0.3; today's names its arguments.",
    ),
)
