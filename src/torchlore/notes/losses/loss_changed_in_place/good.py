import torch
import torch.nn.functional as F
from torch import nn

model = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 3))
x, y = torch.randn(64, 20), torch.randint(0, 3, (64,))

loss = F.cross_entropy(model(x), y)
data_loss = loss
for p in model.parameters():
    loss = loss + 0.1 * p.abs().sum()
loss.backward()
print("data", data_loss.item(), "total", loss.item())

result = {"penalty": loss.item() - data_loss.item()}
