import copy

import torch
from torch import nn

model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
average = copy.deepcopy(model)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x, y = torch.randn(128, 5), torch.randn(128, 1)
first = [p.detach().clone() for p in average.parameters()]

for _ in range(20):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for ema_p, p in zip(average.parameters(), model.parameters(), strict=True):
            ema_p = 0.9 * ema_p + 0.1 * p  # trap: loop-variable-rebound

moved = sum((a - b).abs().sum().item() for a, b in zip(average.parameters(), first, strict=True))
result = {"moved": moved}
