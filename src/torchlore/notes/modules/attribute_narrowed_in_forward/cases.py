import torch
from torch import nn


class Table(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = torch.ones(n)
        self.order = torch.arange(n)
        self.state = torch.zeros(4, n)

    def forward(self, x, labels, lengths):
        rows = labels.view(-1)
        self.weight = self.weight[rows].to(x.device)  # trap: attribute-narrowed-in-forward
        self.state = self.state[:, -1:]
        if len(self.order) > len(lengths):
            self.order = self.order[lengths]
        return self.weight * x


class Beam:
    def __init__(self):
        self.scores = torch.zeros(4)

    def step(self, kept):  # a search that goes on with what it kept
        self.scores = self.scores[kept]


class Attention(nn.Module):
    def __init__(self, rate, size):
        super().__init__()
        self.rate, self.scale, self.size, self.calls = rate, 1.0, size, 0

    def forward(self, x):
        if not self.training:
            self.rate = 0.0  # trap: attribute-narrowed-in-forward
            self.calls = 0
        return nn.functional.dropout(x, self.rate, self.training) * self.scale


class Follows(nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.base, self.rate = rate, rate

    def forward(self, x):
        if self.training:
            self.rate = self.base
        else:
            self.rate = 0.0
        return nn.functional.dropout(x, self.rate, self.training)
