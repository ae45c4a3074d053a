import math

import torch
from torch import nn


class Dense(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.kernel = nn.Parameter(torch.rand(n_in, n_out))  # trap: unscaled-random-weights
        self.bias = nn.Parameter(torch.zeros(n_out))

    def forward(self, x):
        return x @ self.kernel + self.bias


class Scaled(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_in, n_out))
        self.other = nn.Parameter(torch.randn(n_in, n_out) * 0.02)
        self.codes = nn.Parameter(torch.randn(n_in, n_out))
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x):
        return x @ self.weight + x @ self.other + self.codes.mean()


class Regression(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_in, n_out))

    def forward(self, x):
        return x @ self.weight


net = nn.Sequential(Dense(3, 8), Dense(8, 2), Scaled(2, 8), Scaled(8, 2))
line = Regression(2, 1)


def start(m):
    if isinstance(m, (nn.Linear, nn.Conv2d)):
        m.weight.data.normal_(0, 1)  # trap: unscaled-random-weights
    elif isinstance(m, nn.Embedding):
        nn.init.normal_(m.weight)
    elif isinstance(m, nn.BatchNorm2d):
        m.weight.data.normal_(1.0, 0.02)


def start_all(net):
    net.apply(start)
    for m in net.modules():
        if isinstance(m, nn.Linear):
            nn.init.normal_(m.weight)  # trap: unscaled-random-weights
        if isinstance(m, nn.Conv2d):
            nn.init.normal_(m.weight, std=0.02)


def by_name(m):
    name = m.__class__.__name__
    if name.find("Conv") != -1:
        nn.init.normal_(m.weight, 0.02)  # trap: unscaled-random-weights
    elif "Linear" in name:
        m.weight.data.normal_(0.0, 1.0)  # trap: unscaled-random-weights
    elif name.find("BatchNorm") != -1:
        nn.init.normal_(m.weight, 1.0)
        m.bias.data.normal_(0.0)


def by_number(net, noise):
    net.apply(by_name)
    net.fc.weight.data.normal_(0.01)  # trap: unscaled-random-weights
    nn.init.trunc_normal_(net.table, 0.02)  # trap: unscaled-random-weights
    nn.init.trunc_normal_(net.table, std=0.02)
    nn.init.normal_(net.table, 0, 0.02)
    noise.normal_(0.1)


def by_fan(m):
    fan_in = m.weight.size(1)
    nn.init.normal_(m.weight, 0, fan_in**0.5)  # trap: unscaled-random-weights
    nn.init.normal_(m.weight, 0, math.sqrt(fan_in))  # trap: unscaled-random-weights
    nn.init.normal_(m.weight, 0, math.sqrt(2.0 / fan_in))
    m.weight.data.normal_(0, 1 / math.sqrt(fan_in))


def scaled_in_the_next_line(m):
    classname = m.__class__.__name__
    if classname.find("Linear") != -1:
        m.weight.data.normal_(0, 1)
        m.weight.data *= 1 / torch.sqrt(m.weight.data.pow(2).sum(1, keepdim=True))


def around_one(m):
    name = m.__class__.__name__
    if name.find("Conv") != -1:
        nn.init.normal_(m.weight, 1.0, 0.02)  # trap: unscaled-random-weights
    elif isinstance(m, nn.Linear):
        m.weight.data.normal_(mean=1.0, std=0.02)  # trap: unscaled-random-weights
    elif name.find("BatchNorm") != -1:
        nn.init.normal_(m.weight, 1.0, 0.02)


net.apply(around_one)
