"""What the documents wrote about label smoothing."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E101",
        where="003:434-439",
        written="torch.full(size=(N, C), fill_value=0.1 / (C - 1)) ... scatter_(..., value=0.9)",
        proof="""
import torch.nn.functional as F
N, C = 4, 5
score, labels = torch.arange(20.0).view(N, C).sin(), torch.tensor([0, 1, 2, 3])
smoothed = torch.full((N, C), 0.1 / (C - 1)).scatter_(1, labels[:, None], 0.9)
loss = -torch.sum(F.log_softmax(score, 1) * smoothed) / N
print(torch.allclose(loss, F.cross_entropy(score, labels, label_smoothing=0.1)),
      torch.allclose(loss, F.cross_entropy(score, labels, label_smoothing=0.1 * C / (C - 1))))
""",
        happens="False True",
        instead="`F.cross_entropy(score, labels, label_smoothing=0.1 * C / (C - 1))` is what the snippet computes.",
    ),
)
