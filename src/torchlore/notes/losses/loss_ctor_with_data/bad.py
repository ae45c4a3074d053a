import torch
from torch import nn

model = nn.Linear(3, 1)
x, y = torch.randn(8, 3), torch.randn(8, 1)

error = ""
try:
    loss = nn.MSELoss(model(x), y)  # trap: loss-ctor-with-data
    loss.backward()
except RuntimeError as problem:
    error = type(problem).__name__

result = {"error": error}
