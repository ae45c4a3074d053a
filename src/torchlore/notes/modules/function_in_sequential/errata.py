"""What the documents wrote about modules and functions."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E077",
        where="001:19",
        written="nn.functional.Xxx needs w and b set by hand",
        proof="import torch.nn.functional as F\nprint(F.relu(torch.tensor([-1.0, 2.0])).tolist())",
        happens="[0.0, 2.0]",
        instead="Only functions that have weights (`F.linear`, `F.conv2d`, `F.batch_norm`) need them.",
    ),
    Erratum(
        id="E103",
        where="003:654",
        written="Pooling: torch.nn (torch.nn contains parameters)",
        proof="from torch import nn\nprint(list(nn.MaxPool2d(2).parameters()))",
        happens="[]",
        instead="Pooling has no parameters; write it as a module so that hooks and printing see it.",
    ),
)
