import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


def roughness(field):
    return (field[:, 1:] - field[:, :-1]).pow(2).mean()


def train(weight):
    torch.manual_seed(1)
    net = nn.Linear(16, 16)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for _ in range(100):
        x = torch.randn(32, 16)
        field = net(x)
        smooth = roughness(field)
        loss = F.mse_loss(field, x) + weight * smooth.item()  # trap: loss-term-without-gradient
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return roughness(net(torch.ones(4, 16).cumsum(1).sin())).item()


result = {"smooth_after": train(5.0), "smooth_before": train(0.0)}
