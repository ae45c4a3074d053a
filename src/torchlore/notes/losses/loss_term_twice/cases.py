import torch
from torch import nn
from torch.nn import functional as F

net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.1))
criterion = nn.CrossEntropyLoss()


def both_ways(a, b, labels, beta):
    logits = a @ b.T
    return (criterion(logits, labels) + criterion(logits, labels)) / 2  # trap: loss-term-twice


def mixed(out, a, b, lam):
    return lam * criterion(out, a) + (1 - lam) * criterion(out, b)


def r_drop(x, y):  # two draws of the dropout
    return criterion(net(x), y) + criterion(net(x), y)


def three(a, b, c):
    return F.mse_loss(a, b) + 0.5 * F.l1_loss(a, b) + F.mse_loss(a, c) + 2 * F.mse_loss(c, b)


def mixed(criterion, out, a, b, lam):
    wrong = lam * criterion(out, a) + lam * criterion(out, b)  # trap: loss-term-twice
    return wrong + lam * criterion(out, a) + (1 - lam) * criterion(out, b)
