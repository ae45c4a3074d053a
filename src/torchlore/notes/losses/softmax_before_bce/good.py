import torch
from torch import nn

x = torch.randn(400, 3)
tags = (x > 0).float()

model = nn.Linear(3, 3)
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
for _ in range(150):
    loss = criterion(model(x), tags)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

predicted = (model(x) > 0).float()
result = {"exact": (predicted == tags).all(1).float().mean().item()}
