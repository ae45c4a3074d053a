import torch
from torch import nn

model = nn.Linear(4, 1)
base_lr = 0.1
optimizer = torch.optim.SGD(model.parameters(), lr=base_lr)
x, y = torch.randn(16, 4), torch.randn(16, 1)

for epoch in range(10):
    for group in optimizer.param_groups:
        group["lr"] = base_lr * 0.9**epoch
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()

result = {"rate": optimizer.param_groups[0]["lr"]}
