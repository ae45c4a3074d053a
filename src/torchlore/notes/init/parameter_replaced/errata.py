"""What the documents wrote about giving a layer its weight."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E113",
        where="003:239 against 003:255",
        written="init in place over modules(); layer.weight = torch.nn.Parameter(tensor)",
        proof="""
from torch import nn
layer = nn.Linear(2, 2)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
layer.weight = nn.Parameter(torch.ones(2, 2))
held = [id(p) for group in optimizer.param_groups for p in group["params"]]
print("the optimizer holds the new weight:", id(layer.weight) in held)
""",
        happens="the optimizer holds the new weight: False",
        instead="The first way is right: change values in place, `with torch.no_grad(): layer.weight.copy_(tensor)`.",
    ),
)
