import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width):  # trap: missing-super-init
        self.fc = nn.Linear(4, width)

    def forward(self, x):
        return self.fc(x)


error = ""
try:
    Net(3)(torch.randn(2, 4))
except AttributeError as problem:
    error = type(problem).__name__

result = {"error": error}
