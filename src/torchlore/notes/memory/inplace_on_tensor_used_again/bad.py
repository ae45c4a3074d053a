import torch
import torch.nn.functional as F
from torch import nn


class Residual(nn.Module):
    def forward(self, x):
        x = x * 2
        out = F.relu(x, inplace=True)  # trap: inplace-on-tensor-used-again
        return x + out * 0.5


out = Residual()(torch.tensor([-1.0, 0.0, 2.0]))
result = {"out": out.tolist()}
