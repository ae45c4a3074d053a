"""What the documents wrote about gradients that add up."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E075",
        where="001:11",
        written="without optimizer.zero_grad() the gradients add up, which amounts to a larger batch size",
        proof="""
from torch import nn
model, x, y = nn.Linear(4, 1), torch.randn(8, 4), torch.randn(8, 1)
def gradient(parts):
    model.zero_grad()
    for a, b in zip(x.split(parts), y.split(parts)):
        nn.functional.mse_loss(model(a), b).backward()
    return model.weight.grad.clone()
print(round((gradient(4) / gradient(8)).mean().item(), 3))
""",
        happens="2.0",
        instead="Scale each micro-batch's mean loss by its share of the samples: `loss * len(x) / N`.",
    ),
)
