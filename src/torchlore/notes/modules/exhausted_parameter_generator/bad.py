import warnings

import torch
from torch import nn

warnings.filterwarnings("ignore")
model = nn.Linear(10, 1)
params = filter(lambda p: p.requires_grad, model.parameters())  # trap: exhausted-parameter-generator
optimizer = torch.optim.SGD(params, lr=0.1)
x = 100 * torch.randn(64, 10)
y = x.sum(1, keepdim=True)

steps = []
for _ in range(2):
    before = model.weight.detach().clone()
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    nn.utils.clip_grad_norm_(params, 1.0)
    optimizer.step()
    steps.append((model.weight - before).norm().item())

result = {"largest_step": max(steps)}
