import copy

import torch
from torch import nn

model = nn.Linear(4, 1)
ema = copy.deepcopy(model)
decay = 0.99
with torch.no_grad():
    model.weight.add_(1.0)  # a step
    before = ema.weight.clone()
    for average, p in zip(ema.parameters(), model.parameters(), strict=True):
        average.mul_(1 - decay).add_(p, alpha=decay)  # trap: ema-decay-swapped

result = {"jump": (ema.weight - before).mean().item()}
