import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = CosineAnnealingLR(optimizer, T_max=6)
x, y = torch.randn(64, 4), torch.randn(64, 1)

for _ in range(5):
    for part in torch.randperm(64).split(16):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x[part]), y[part]).backward()
        optimizer.step()
    scheduler.step()

result = {"rate": optimizer.param_groups[0]["lr"]}
