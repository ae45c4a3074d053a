import torch
from torch import nn


def init(m):
    if isinstance(m, nn.Linear):
        nn.init.normal_(m.weight, std=0.01)


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 2))
net.apply(init)
result = {"spread": net[0].weight.std().item()}
