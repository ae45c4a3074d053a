import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.scale = torch.ones(4, requires_grad=True)  # trap: tensor-not-parameter

    def forward(self, x):
        return self.linear(x) * self.scale


result = {"parameters": len(list(Scale().parameters()))}
