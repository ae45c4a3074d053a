"""What the documents wrote about what comes before BCELoss."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E084",
        where="001:69",
        written="BCELoss() needs sigmoid or softmax",
        proof="""
import torch.nn.functional as F
x, y = torch.tensor([[2.0, 0.0, -1.0], [0.0, 1.0, 0.5]]), torch.tensor([0, 2])
with_softmax = F.binary_cross_entropy(x.softmax(1), F.one_hot(y, 3).float())
print("softmax + BCE is cross-entropy:", torch.allclose(with_softmax, F.cross_entropy(x, y)))
""",
        happens="softmax + BCE is cross-entropy: False",
        instead="Sigmoid only; for one label among several use `F.cross_entropy` on the logits.",
    ),
)
