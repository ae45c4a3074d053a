import torch
from torch import nn

model = nn.Linear(4, 1)
x, y = torch.randn(40, 4), torch.randn(40, 1)


def train_epoch(model):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)  # trap: optimizer-rebuilt-every-epoch
    for start in range(0, 40, 8):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x[start : start + 8]), y[start : start + 8]).backward()
        optimizer.step()
    return optimizer


for epoch in range(4):
    optimizer = train_epoch(model)

result = {"steps_remembered": int(optimizer.state[model.weight]["step"])}
