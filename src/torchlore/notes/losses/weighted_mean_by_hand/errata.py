"""What the documents wrote about class weights."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E092",
        where="000:26, 002:78",
        written="If size_average = True, return loss.mean().",
        proof="""
import torch.nn.functional as F
x, y, w = torch.randn(9, 3), torch.tensor([0, 1, 2] * 3), torch.tensor([1.0, 2.0, 10.0])
each = F.cross_entropy(x, y, weight=w, reduction="none")
mean = F.cross_entropy(x, y, weight=w)
print(torch.allclose(mean, each.mean()), torch.allclose(mean, each.sum() / w[y].sum()))
""",
        happens="False True",
        instead="With `weight` the mean is the sum divided by the summed weights of the labels.",
    ),
)
