import torch
from torch import nn


def init(layer):
    if isinstance(layer, nn.Linear):
        nn.init.xavier_uniform_(layer.weight)


pretrained = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
model.load_state_dict(pretrained.state_dict())
model.apply(init)  # trap: initialised-after-loading

x = torch.randn(8, 4)
result = {"difference": (model(x) - pretrained(x)).abs().max().item()}
