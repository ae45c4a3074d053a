import torch
from torch import nn


class Table(nn.Module):
    def __init__(self):
        super().__init__()
        self.pe = nn.Parameter(torch.zeros(100, 1, 8))

    def first(self, x):
        x = x + self.pe[x.shape[0]]  # trap: length-taken-as-index
        return x

    def right(self, x, counts):
        a = x + self.pe[: x.shape[0]]
        b = x + self.pe[x.shape[0] - 1]
        c = counts[x.shape[0]] + 1
        d = self.pe[len(x)] * 2
        return a, b, c, d
