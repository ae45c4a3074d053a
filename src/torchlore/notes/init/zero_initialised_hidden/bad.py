import torch
from torch import nn


def reset(module):
    if isinstance(module, nn.Linear):
        nn.init.constant_(module.weight, 0.0)  # trap: zero-initialised-hidden
        nn.init.zeros_(module.bias)


model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
model.apply(reset)
x = torch.randn(400, 2)
y = (x[:, 0] * x[:, 1] > 0).long()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for _ in range(150):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()

accuracy = (model(x).argmax(1) == y).float().mean().item()
result = {"accuracy": accuracy, "distinct_units": len({tuple(row) for row in model[0].weight.tolist()})}
