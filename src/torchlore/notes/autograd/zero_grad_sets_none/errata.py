"""What the documents wrote about zero_grad."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E076",
        where="001:12, 003:666",
        written="zero_grad sets the gradient of all Variables to 0",
        proof="""
from torch import nn
model = nn.Linear(2, 1)
model(torch.ones(1, 2)).sum().backward()
torch.optim.SGD(model.parameters(), lr=0.1).zero_grad()
print(model.weight.grad)
""",
        happens="None",
        instead="Read gradients with `if p.grad is not None`; pass `set_to_none=False` if zeros are wanted.",
    ),
)
