import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(20, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
x = torch.randn(64, 20)
y = x @ torch.randn(20, 1)

for _ in range(200):
    penalty = 0.0
    for p in model.parameters():
        penalty = penalty + p.data.abs().sum()  # trap: penalty-on-data
    loss = nn.functional.mse_loss(model(x), y) + 2.0 * penalty
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

result = {"size": model.weight.abs().sum().item()}
