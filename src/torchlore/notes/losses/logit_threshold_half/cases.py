import torch
import torch.nn as nn
import torch.nn.functional as F

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
other = nn.Linear(4, 1)


def train(x, y):
    return F.binary_cross_entropy_with_logits(model(x), y)


def bad(x, y):
    out = model(x)
    a = out >= 0.5  # trap: logit-threshold-half
    b = torch.round(model(x))  # trap: logit-threshold-half
    c = (out.squeeze(1) > 0.5).int()  # trap: logit-threshold-half
    return a, b, c


def fine(x, y, score):
    out = model(x)
    a = torch.sigmoid(out) > 0.5
    b = out > 0
    c = torch.round(torch.sigmoid(out))
    d = other(x) > 0.5  # a regression
    e = score > 0.5
    f = round(0.5 + len(x))
    return a, b, c, d, e, f
