import torch
from torch import nn

x, y = torch.randn(64, 4), torch.randn(64, 1)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
before = model.weight.detach().clone()

for _ in range(20):
    error = nn.functional.mse_loss(model(x), y).item()
    loss = torch.tensor(error, requires_grad=True)  # trap: loss-rewrapped
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

result = {"moved": (model.weight - before).abs().max().item()}
