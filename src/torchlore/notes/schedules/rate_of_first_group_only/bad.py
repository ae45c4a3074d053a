import torch
from torch import nn

backbone, head = nn.Linear(4, 8), nn.Linear(8, 2)
optimizer = torch.optim.SGD(
    [{"params": backbone.parameters(), "lr": 0.01}, {"params": head.parameters(), "lr": 0.1}], momentum=0.9
)
for epoch in range(4):
    loss = head(backbone(torch.randn(8, 4))).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch == 2:
        optimizer.param_groups[0]["lr"] *= 0.1  # trap: rate-of-first-group-only
result = {"rates": [round(group["lr"], 6) for group in optimizer.param_groups]}
