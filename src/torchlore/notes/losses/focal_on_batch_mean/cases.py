import torch
import torch.nn as nn
import torch.nn.functional as F


class Focal(nn.Module):
    def __init__(self, gamma, alpha):
        super().__init__()
        self.gamma, self.alpha = gamma, alpha
        self.ce = nn.CrossEntropyLoss()
        self.each = nn.CrossEntropyLoss(reduction="none")

    def forward(self, x, y):
        logp = self.ce(x, y)  # trap: focal-on-batch-mean
        p = torch.exp(-logp)
        return (1 - p) ** self.gamma * logp

    def binary(self, x, y):
        bce = F.binary_cross_entropy_with_logits(x, y, reduction="mean")  # trap: focal-on-batch-mean
        return (self.alpha * (1 - (-bce).exp()) ** 2 * bce).mean()

    def negated(self, x, y):
        logpt = -F.cross_entropy(x, y)  # trap: focal-on-batch-mean
        pt = torch.exp(logpt)
        return -((1 - pt) ** self.gamma) * logpt

    def right(self, x, y):
        ce = self.each(x, y)
        pt = torch.exp(-ce)
        return ((1 - pt) ** self.gamma * ce).mean()


def perplexity(x, y):
    loss = F.cross_entropy(x, y)
    return torch.exp(loss), torch.exp(-loss)


def weighted(x, y, how):
    ce = F.cross_entropy(x, y, reduction=how)
    return (1 - torch.exp(-ce)) ** 2 * ce
