import torch
from torch import nn

x = torch.randn(500, 10)
y = x.argmax(1)
model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 10), nn.Sigmoid())  # trap: relu-before-cross-entropy
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)

for _ in range(100):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

result = {"loss": loss.item()}
