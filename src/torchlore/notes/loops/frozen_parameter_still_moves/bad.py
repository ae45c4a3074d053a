import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
x, y = torch.randn(64, 4), torch.randn(64, 1)

for step in range(20):
    if step == 10:
        model[0].requires_grad_(False)
        frozen = model[0].weight.detach().clone()
    for parameter in model.parameters():
        if parameter.grad is not None:
            parameter.grad.zero_()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()  # trap: frozen-parameter-still-moves

result = {"moved": (model[0].weight - frozen).abs().max().item()}
