import torch
from torch import nn


def build():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))


trained = build()
checkpoint = nn.DataParallel(trained).state_dict()

model = build()
model.load_state_dict(checkpoint, strict=False)  # trap: strict-false-unchecked

x = torch.randn(16, 4)
result = {"distance": (model(x) - trained.cpu()(x)).abs().max().item()}
