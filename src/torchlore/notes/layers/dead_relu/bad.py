import torch
from torch import nn

model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
nn.init.constant_(model[0].bias, -20.0)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(64, 8), torch.randn(64, 1)
for _ in range(20):
    loss = nn.functional.mse_loss(model(x), y)  # trap: dead-relu
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

result = {"gradient": model[0].weight.grad.abs().sum().item()}
