import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
x, y = torch.randn(64, 4), torch.randn(64, 1)
nn.functional.mse_loss(model(x), y).backward()
whole = model.weight.grad.clone()
optimizer.zero_grad()

k = 4
for i in range(4):
    part = slice(i * 16, i * 16 + 16)
    loss = nn.functional.mse_loss(model(x[part]), y[part]) / k
    loss.backward()
    if (i + 1) % k == 0:
        gathered = model.weight.grad.clone()
        optimizer.step()
        optimizer.zero_grad()

result = {"error": ((gathered - whole).norm() / whole.norm()).item()}
