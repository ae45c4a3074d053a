import warnings

import torch
from torch import nn

warnings.filterwarnings("ignore", message="Detected call of")
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)

rates = []
for _ in range(3):
    for x in torch.randn(4, 8, 2):
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()
    rates.append(optimizer.param_groups[0]["lr"])
    scheduler.step()

result = {"rates": rates}
