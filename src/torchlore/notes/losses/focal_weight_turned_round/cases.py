"""Other spellings of focal-weight-turned-round, and code that only looks like it."""
import torch
from torch import nn


class Focal(nn.Module):
    def __init__(self, alpha=0.25, gamma=2.0):
        super().__init__()
        self.alpha, self.gamma = alpha, gamma

    def forward(self, logits, target):
        p = torch.sigmoid(logits).clamp(1e-6, 1 - 1e-6)
        pos = target * self.alpha * torch.pow(1 - p, self.gamma) * torch.log(p)
        neg = (1 - target) * (1 - self.alpha) * torch.pow(1 - p, self.gamma) * torch.log(1 - p)  # trap: focal-weight-turned-round
        return -(pos + neg).mean()

    def by_methods(self, p, y):
        pos = y * p.pow(self.gamma) * p.log()  # trap: focal-weight-turned-round
        neg = (1 - y) * p.pow(self.gamma) * (1 - p).log()
        return -(pos + neg).sum()

    def right(self, p, y):
        pos = y * (1 - p) ** self.gamma * p.log()
        neg = (1 - y) * p**self.gamma * (1 - p).log()
        return -(pos + neg).mean()

    def chosen(self, p, y):
        pt = torch.where(y == 1, p, 1 - p)
        return -((1 - pt) ** self.gamma * pt.log()).mean()


def entropy(p):
    return -(p * torch.log(p)).sum(1) - (p**2 * torch.log(p)).sum(1)


def gaussian(p, gt, gamma):
    return torch.log(p) * torch.pow(1 - p, 2) * gt + torch.log(1 - p) * torch.pow(p, gamma) * torch.pow(1 - gt, 4)
