import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
model[0].requires_grad_(False)
optimizer = torch.optim.SGD([p for p in model.parameters() if not p.requires_grad], lr=0.1)  # trap: frozen-parameters-chosen
before = model[2].weight.detach().clone()
for _ in range(3):
    optimizer.zero_grad()
    model(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
result = {"moved": (model[2].weight - before).abs().sum().item()}
