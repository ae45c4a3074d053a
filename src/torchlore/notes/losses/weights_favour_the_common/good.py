import torch
from torch import nn

torch.manual_seed(0)
y = (torch.rand(1000) < 0.1).long()
x = torch.randn(1000, 2) + y[:, None]
counts = torch.bincount(y).float()
weight = counts.sum() / (2 * counts)
model, criterion = nn.Linear(2, 2), nn.CrossEntropyLoss(weight=weight)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for _ in range(200):
    optimizer.zero_grad()
    criterion(model(x), y).backward()
    optimizer.step()
result = {"rare": (model(x).argmax(1)[y == 1] == 1).float().mean().item()}
