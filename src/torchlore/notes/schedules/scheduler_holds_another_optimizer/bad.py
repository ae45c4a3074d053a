import torch
from torch import nn
from torch.optim.lr_scheduler import ExponentialLR

model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
x, y = torch.randn(16, 4), torch.randn(16, 1)


def train(optimizer, scheduler, epochs):
    rates = []
    for _ in range(epochs):
        rates.append(round(optimizer.param_groups[0]["lr"], 6))
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        scheduler.step()
    return rates


optimizer = torch.optim.SGD(model[1].parameters(), lr=0.1)
scheduler = ExponentialLR(optimizer, gamma=0.5)
train(optimizer, scheduler, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # trap: scheduler-holds-another-optimizer
result = {"rates": train(optimizer, scheduler, 8)[:3]}
