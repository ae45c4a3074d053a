import torch
from torch import nn

x = torch.randn(256, 8)
y = x.sum(dim=1)  # (256,)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

for _ in range(200):
    loss = nn.functional.mse_loss(model(x).squeeze(-1), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

with torch.no_grad():
    said = model(x)[:, 0]
result = {"spread": said.std().item(), "error": (said - y).pow(2).mean().item()}
