import torch
from torch import nn

model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(4):
    if epoch == 2:
        for group in optimizer.param_groups:
            group["lr"] == 1e-4  # trap: comparison-as-statement
    optimizer.zero_grad()
    model(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()

result = {"rate": optimizer.param_groups[0]["lr"]}
