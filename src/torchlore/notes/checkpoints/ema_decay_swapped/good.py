import copy

import torch
from torch import nn

torch.manual_seed(0)
model, x = nn.Linear(4, 1), torch.ones(8, 4)
ema, decay = copy.deepcopy(model).requires_grad_(False), 0.99
optimizer, before = torch.optim.SGD(model.parameters(), lr=0.01), model.weight.detach().clone()
for _ in range(24):
    loss = ((model(x) - 10) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for average, p in zip(ema.parameters(), model.parameters(), strict=True):
            average.mul_(decay).add_(p, alpha=1 - decay)

result = {"jump": ((ema.weight - before) / (model.weight - before)).mean().item()}
