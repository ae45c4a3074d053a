"""Other spellings of squeeze-without-dim, and code that only looks like it."""
import numpy as np
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 1)

    def forward(self, x):
        return self.fc(x).squeeze()  # trap: squeeze-without-dim


def loss(logits: torch.Tensor, y: torch.Tensor):
    p = torch.squeeze(torch.sigmoid(logits))  # trap: squeeze-without-dim
    y.squeeze_()  # trap: squeeze-without-dim
    return ((p - y) ** 2).mean()


# clean
def fine(x: torch.Tensor, array):
    a = x.squeeze(-1)
    b = torch.squeeze(x, dim=1)
    c = x.squeeze().item()
    d = x.squeeze().cpu().numpy()
    e = np.squeeze(array)
    f = array.squeeze()
    g = torch.zeros(1, 3, 1).squeeze()
    return a, b, c, d, e, f, g
