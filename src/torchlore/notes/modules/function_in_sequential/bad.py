import torch
import torch.nn.functional as F
from torch import nn

error = ""
try:
    model = nn.Sequential(nn.Linear(4, 8), F.relu, nn.Linear(8, 2))  # trap: function-in-sequential
    model(torch.randn(3, 4))
except TypeError as problem:
    error = type(problem).__name__

result = {"error": error}
