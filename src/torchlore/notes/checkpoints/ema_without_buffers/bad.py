import copy

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 1))
ema = copy.deepcopy(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

for _ in range(300):
    x = torch.randn(32, 4) + 5
    loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for average, p in zip(ema.parameters(), model.parameters(), strict=True):  # trap: ema-without-buffers
            average.mul_(0.9).add_(p, alpha=0.1)

ema.eval()
x = torch.randn(32, 4) + 5
result = {"error": (ema(x) - x.sum(1, keepdim=True)).abs().mean().item()}
