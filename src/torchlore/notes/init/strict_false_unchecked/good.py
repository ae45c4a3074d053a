import torch
from torch import nn

from torchlore.recipes.weights import load_into


def build():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))


trained = build()
checkpoint = nn.DataParallel(trained).state_dict()

model = build()
print(load_into(model, checkpoint))

x = torch.randn(16, 4)
result = {"distance": (model(x) - trained.cpu()(x)).abs().max().item()}
