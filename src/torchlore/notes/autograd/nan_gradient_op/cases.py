"""Other spellings of nan-gradient-op, and code that only looks like it."""
import torch
import torch.nn.functional as F
from torch import nn


def rmse_loss(output, target):
    return torch.sqrt(F.mse_loss(output, target))  # trap: nan-gradient-op


class Rmse(nn.Module):
    def __init__(self):
        super().__init__()
        self.mse = nn.MSELoss()

    def forward(self, a, b):
        angle = torch.acos(F.cosine_similarity(a, b))  # trap: nan-gradient-op
        length = (a - b).pow(2).sum(1).sqrt()  # trap: nan-gradient-op
        return torch.sqrt(self.mse(a, b)) + angle.mean() + length.mean()  # trap: nan-gradient-op


# clean
class Careful(nn.Module):
    def forward(self, a, b, eps=1e-8):
        first = torch.sqrt(F.mse_loss(a, b) + eps)
        second = torch.sqrt(((a - b) ** 2).sum(1).clamp_min(eps))
        third = torch.acos(F.cosine_similarity(a, b).clamp(-0.999, 0.999))
        fourth = torch.linalg.vector_norm(a - b, dim=1)
        fifth = torch.sqrt(torch.tensor(3.0))
        with torch.no_grad():
            sixth = torch.sqrt(((a - b) ** 2).sum())
        return first, second, third, fourth, fifth, sixth


def report(error):
    return torch.sqrt((error**2).mean())
