import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(32, 4)
y = 100 * x.sum(1, keepdim=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
updates = []

for _ in range(3):
    before = [p.detach().clone() for p in model.parameters()]
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # trap: clip-outside-backward-step
    updates.append(torch.cat([(a - b).flatten() for a, b in zip(before, model.parameters(), strict=True)]).norm().item())

result = {"largest_update": max(updates)}
