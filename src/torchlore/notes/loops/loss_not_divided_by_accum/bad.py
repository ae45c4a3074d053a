import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(64, 4), torch.randn(64, 1)
nn.functional.mse_loss(model(x), y).backward()
whole = model.weight.grad.norm().item()
optimizer.zero_grad()

accumulation_steps = 4
for i in range(4):
    part = slice(i * 16, i * 16 + 16)
    loss = nn.functional.mse_loss(model(x[part]), y[part])
    loss.backward()  # trap: loss-not-divided-by-accum
    if (i + 1) % accumulation_steps == 0:
        gathered = model.weight.grad.norm().item()
        optimizer.step()
        optimizer.zero_grad()

result = {"ratio": gathered / whole}
