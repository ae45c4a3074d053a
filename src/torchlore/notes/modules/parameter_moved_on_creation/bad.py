import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(6)).to(torch.bfloat16)  # trap: parameter-moved-on-creation
        self.fc = nn.Linear(6, 1, dtype=torch.bfloat16)

    def forward(self, x):
        return self.fc(x * self.scale)


model = Scaled()
before = model.scale.detach().clone()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(32, 6, dtype=torch.bfloat16)
for _ in range(5):
    optimizer.zero_grad()
    model(x).pow(2).mean().backward()
    optimizer.step()

names = [name for name, _ in model.named_parameters()]
result = {"names": names, "scale_moved": (model.scale - before).norm().item()}
