"""Other spellings of focal-alpha-on-both, and code that only looks like it."""
import torch
from torch import nn


class Focal(nn.Module):
    def __init__(self, alpha=0.25, gamma=2.0):
        super().__init__()
        self.alpha, self.gamma = alpha, gamma

    def forward(self, logits, target):
        p = torch.sigmoid(logits).clamp(1e-6, 1 - 1e-6)
        pos = target * self.alpha * torch.pow(1 - p, self.gamma) * torch.log(p)
        neg = (1 - target) * self.alpha * torch.pow(p, self.gamma) * torch.log(1 - p)  # trap: focal-alpha-on-both
        return -(pos + neg).mean()

    def at_once(self, p, y):
        return -(self.alpha * y * (1 - p) ** self.gamma * p.log() + self.alpha * (1.0 - y) * p**self.gamma * (1 - p).log()).sum()  # trap: focal-alpha-on-both

    def right(self, p, y):
        a = self.alpha * y * (1 - p) ** self.gamma * p.log()
        b = (1 - self.alpha) * (1 - y) * p**self.gamma * (1 - p).log()
        return -(a + b).mean()

    def outside(self, p, y):
        a = y * (1 - p) ** self.gamma * p.log()
        b = (1 - y) * p**self.gamma * (1 - p).log()
        return -self.alpha * (a + b).mean()


def mixup(alpha, loss_a, loss_b, target):
    return alpha * target * loss_a + alpha * (1 - target) * loss_b
