import torch
import torch.nn.functional as F
from torch import nn

x = torch.randn(300, 4)
y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for _ in range(40):
    prob = F.softmax(model(x), dim=1)  # trap: nll-on-probabilities
    loss = F.nll_loss(prob, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

with torch.no_grad():
    right = model(x).softmax(1)[torch.arange(300), y]
result = {"loss": loss.item(), "confidence": right.min().item()}
