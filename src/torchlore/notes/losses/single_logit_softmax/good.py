import torch
import torch.nn.functional as F
from torch import nn

x = torch.randn(200, 4)
y = (x[:, 0] > 0).float()
model = nn.Linear(4, 1)
before = model.weight.detach().clone()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for _ in range(50):
    prob = torch.sigmoid(model(x)).squeeze(1)
    loss = F.mse_loss(prob, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

accuracy = ((prob > 0.5).float() == y).float().mean().item()
result = {"moved": (model.weight - before).norm().item(), "accuracy": accuracy}
