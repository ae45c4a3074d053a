import torch
from torch import nn


class Trainer:
    def __init__(self, model: nn.Module):
        self.model, self.best, self.wait = model, 0.0, 0

    def score(self, value):
        if value > self.best:
            self.best == value  # trap: comparison-as-statement
            self.wait = 0

    def check(self, x):
        assert self.model(x).shape == x.shape
        same = self.best == 0
        return same


def refuses(a, b):
    try:
        a == b
    except RuntimeError:
        return torch.tensor(False)
    return torch.tensor(True)
