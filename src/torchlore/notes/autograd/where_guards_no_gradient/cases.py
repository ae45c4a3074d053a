"""Other spellings of where-guards-no-gradient, and code that only looks like it."""
import torch
from torch import nn


class Entropy(nn.Module):
    def forward(self, p, total):
        plogp = torch.where(p > 0, p.log(), torch.zeros_like(p))  # trap: where-guards-no-gradient
        share = torch.where(total != 0, p / total, 0.0)  # trap: where-guards-no-gradient
        present = p > 0
        root = torch.sqrt(p)
        return plogp, share, torch.where(present, root, 0.0)  # trap: where-guards-no-gradient


# clean
class Careful(nn.Module):
    def forward(self, p, total, mask):
        safe = torch.where(p > 0, p, 1.0)
        a = torch.where(p > 0, safe.log(), 0.0)
        b = torch.where(p > 0.5, p * 2, p)
        c = torch.where(mask, p.log(), 0.0)
        d = torch.where(total > 0, p / 3.0, 0.0)
        return a, b, c, d


def report(count, total):
    return torch.where(torch.tensor(total) > 0, count / 2, 0)


def smooth_l1_loss(given, target, beta=1.0 / 9):
    error = torch.abs(given - target)
    return torch.where(error < beta, 0.5 * error**2 / beta, error - 0.5 * beta).mean()


def huber_loss(given, target, beta: float):
    error = torch.abs(given - target)
    return torch.where(error < beta, 0.5 * error**2 / beta, error - 0.5 * beta).mean()
