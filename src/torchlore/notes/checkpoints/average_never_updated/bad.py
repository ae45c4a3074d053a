import copy

import torch
from torch import nn


class ModelEma:
    def __init__(self, model, decay=0.9):
        self.module = copy.deepcopy(model)
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for slow, fast in zip(self.module.parameters(), model.parameters(), strict=True):
            slow.mul_(self.decay).add_(fast, alpha=1 - self.decay)


torch.manual_seed(0)
model = nn.Linear(3, 1)
ema = ModelEma(model)
before = copy.deepcopy(model.weight)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(20):
    optimizer.zero_grad()
    model(torch.randn(8, 3)).square().mean().backward()
    optimizer.step()  # trap: average-never-updated
result = {"moved": (ema.module.weight - before).abs().max().item()}
