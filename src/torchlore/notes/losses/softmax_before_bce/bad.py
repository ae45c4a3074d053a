import torch
from torch import nn

x = torch.randn(400, 3)
tags = (x > 0).float()

model = nn.Linear(3, 3)
criterion = nn.BCELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
for _ in range(150):
    prob = torch.softmax(model(x), dim=1)
    loss = criterion(prob, tags)  # trap: softmax-before-bce
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

predicted = (torch.softmax(model(x), dim=1) > 0.5).float()
result = {"exact": (predicted == tags).all(1).float().mean().item()}
