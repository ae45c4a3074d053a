"""What the documents wrote about the weights of the BCE losses."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E083",
        where="001:69",
        written="BCELoss: input NxCxHxW, weight of shape [nbatch]",
        proof="""
import torch.nn.functional as F
p, w = torch.rand(3, 2, 4, 3), torch.tensor([1.0, 2.0, 3.0])
y = torch.ones_like(p)
each = F.binary_cross_entropy(p, y, weight=w, reduction="none")
print("weights columns:", torch.allclose(each, F.binary_cross_entropy(p, y, reduction="none") * w.view(1, 1, 1, 3)))
""",
        happens="weights columns: True",
        instead="It must broadcast against the input: `weight=w.view(-1, 1, 1, 1)` is one a sample.",
    ),
    Erratum(
        id="E085",
        where="001:70",
        written="pos_weight has size [1]",
        proof="""
from torch import nn
nn.BCEWithLogitsLoss(pos_weight=torch.ones(3))(torch.zeros(2, 3, 4, 5), torch.ones(2, 3, 4, 5))
""",
        happens="RuntimeError: ",
        instead="[1] is one for all; one a class is [C] for (N, C) and [C, 1, 1] for (N, C, H, W).",
    ),
    Erratum(
        id="E114",
        where="001:69 against 001:68",
        written="weights of shape [C] for cross-entropy, [nbatch] for BCELoss",
        proof="""
import torch.nn.functional as F
x, w = torch.zeros(2, 3, 4, 4), torch.tensor([1.0, 2.0, 3.0])
F.cross_entropy(x, torch.zeros(2, 4, 4, dtype=torch.long), weight=w)
F.binary_cross_entropy(x.sigmoid(), torch.ones(2, 3, 4, 4), weight=torch.ones(2))
""",
        happens="RuntimeError: ",
        instead="The two are no parallel: cross-entropy indexes by class, BCE broadcasts from the right.",
    ),
)
