import torch
from torch import nn
from torch.nn import functional as F

net = nn.Linear(4, 1)


def by_exp(x, y):
    rate = torch.exp(net(x))
    return F.poisson_nll_loss(rate, y)  # trap: poisson-nll-on-rates


def by_method(x, y):
    return F.poisson_nll_loss(net(x).relu(), y)  # trap: poisson-nll-on-rates


def right(x, y):
    first = F.poisson_nll_loss(net(x), y)
    return first + F.poisson_nll_loss(net(x).exp(), y, log_input=False) + F.poisson_nll_loss(net(x).exp(), y, False)
