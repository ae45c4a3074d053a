import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, longest, width):
        super().__init__()
        self.register_buffer("pe", torch.randn(1, longest, width))

    def forward(self, x):
        return x + self.pe[:, x.size(1), :]  # trap: length-taken-as-index


out = Positions(100, 4)(torch.zeros(1, 5, 4))
result = {"positions": len(torch.unique(out[0], dim=0))}
