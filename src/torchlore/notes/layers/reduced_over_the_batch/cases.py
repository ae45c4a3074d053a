"""Other spellings of reduced-over-the-batch, and code that only looks like it."""

import torch
from torch import nn


class Tower(nn.Module):
    def __init__(self, width, size):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(width, 64), nn.ReLU(), nn.Linear(64, size))
        self.scores = nn.Linear(size, 5)
        self.weight = nn.Parameter(torch.randn(size))

    def forward(self, x):
        features = self.body(x)
        features = features / features.norm()  # trap: reduced-over-the-batch
        mixed = torch.exp(self.scores(features))
        return mixed / torch.sum(mixed)  # trap: reduced-over-the-batch


class Right(nn.Module):
    def __init__(self, width, size):
        super().__init__()
        self.body = nn.Linear(width, size)
        self.weight = nn.Parameter(torch.randn(size))

    def forward(self, x):
        features = self.body(x)
        features = features / features.norm(dim=-1, keepdim=True)
        shifted = features - features.max()
        direction = self.weight / self.weight.norm()
        centred = features - features.mean(0)
        one = self.body(x[0])
        return shifted * direction + centred, one / one.norm()


class ContrastLoss(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.head = nn.Linear(width, 8)

    def forward(self, x):
        logits = self.head(x)
        return (logits - logits.mean()).pow(2).mean()


def both_at_once(i, t, scale):
    i, t = nn.functional.normalize(i, dim=0), nn.functional.normalize(t, dim=-1)  # trap: reduced-over-the-batch
    return scale.exp() * i @ t.T
