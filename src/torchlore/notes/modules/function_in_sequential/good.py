import torch
from torch import nn

error = ""
try:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    model(torch.randn(3, 4))
except TypeError as problem:
    error = type(problem).__name__

result = {"error": error}
