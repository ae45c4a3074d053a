from types import SimpleNamespace

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
nodes = 100
data = SimpleNamespace(x=torch.randn(nodes, 64), y=torch.randint(0, 2, (nodes,)))  # nothing to be learned but by heart
data.test_mask = torch.arange(nodes) >= 50
data.train_mask = ~data.test_mask
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for _ in range(200):
    out = model(data.x)
    loss = F.cross_entropy(out[data.train_mask], data.y[data.train_mask])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

with torch.no_grad():
    right = model(data.x).argmax(1)[data.test_mask] == data.y[data.test_mask]

result = {"accuracy": right.float().mean().item()}
