import math

import torch
from torch import exp, log

x = torch.randn(5)

a = log(x + 1.0)  # trap: imprecise-near-zero
b = exp(2 * x) - 1  # trap: imprecise-near-zero
c = torch.log(torch.sum(torch.exp(x), 0, keepdim=True))  # trap: imprecise-near-zero

d = torch.log(2 + x)
e = torch.log(torch.sum(torch.exp(x) + 2.5, 0))
f = torch.exp(x) - 2
g = math.log(1 + 3)
h = torch.log(torch.sum(torch.exp(x)))


def stable(scores):
    top = scores.max()
    return torch.log(torch.sum(torch.exp(scores - top), 1, keepdim=True)) + top
