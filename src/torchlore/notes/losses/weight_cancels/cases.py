"""Other spellings of weight-cancels, and code that only looks like it."""
import torch
from torch import nn


class Dice(nn.Module):
    def __init__(self, class_weights, smooth=1e-5):
        super().__init__()
        self.class_weights = class_weights
        self.smooth = smooth

    def forward(self, prob, mask):
        inter = self.class_weights * (prob * mask).sum((2, 3))
        total = self.class_weights * (prob + mask).sum((2, 3))
        score = (2.0 * inter + self.smooth) / (total + self.smooth)  # trap: weight-cancels
        return 1 - score.mean()

    def right(self, prob, mask):
        inter = (self.class_weights * (prob * mask).sum((2, 3))).sum(1)
        total = (self.class_weights * (prob + mask).sum((2, 3))).sum(1)
        return 1 - (2.0 * inter + self.smooth) / (total + self.smooth)

    def outside(self, prob, mask):
        inter = (prob * mask).sum((2, 3))
        total = (prob + mask).sum((2, 3))
        return (self.class_weights * (1 - 2.0 * inter / total)).mean()


def squared(weight, inter, union):
    return (2 * inter * weight).mul(weight).sum() / (union * weight)


def reweighted(weight, inter, union):
    top = inter * weight
    weight = weight / weight.sum()
    return top / (union * weight)


def sums(losses, weight, mask):
    return torch.sum(losses * weight * mask) / torch.sum(weight * mask)
