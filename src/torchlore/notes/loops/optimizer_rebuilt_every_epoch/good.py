import torch
from torch import nn

model = nn.Linear(4, 1)
x, y = torch.randn(40, 4), torch.randn(40, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)


def train_epoch(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    for start in range(0, 40, 8):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x[start : start + 8]), y[start : start + 8]).backward()
        optimizer.step()


for _ in range(4):
    train_epoch(model, optimizer)

result = {"steps_remembered": int(optimizer.state[model.weight]["step"])}
