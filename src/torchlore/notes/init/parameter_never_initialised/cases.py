import torch
from torch import nn


class Left(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.weight = nn.Parameter(torch.Tensor(a, b))  # trap: parameter-never-initialised
        self.bias = nn.Parameter(torch.zeros(b))
        self.gate = nn.Parameter(torch.FloatTensor(b))  # trap: parameter-never-initialised

    def forward(self, x):
        return x @ self.weight + self.bias * self.gate


class Filled(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.weight = nn.Parameter(torch.Tensor(a, b))
        self.other = nn.Parameter(torch.empty(a, b))
        nn.init.xavier_uniform_(self.weight)
        self.other.data.normal_()


class Later(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.weight = nn.Parameter(torch.Tensor(a, b))
        self.reset_parameters()

    def reset_parameters(self):
        for p in self.parameters():
            nn.init.uniform_(p)


class Outside(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.tokens = nn.Parameter(torch.empty(a, b))


def build():
    net = Outside(2, 3)
    nn.init.normal_(net.tokens)
    return net


class Values(nn.Module):
    def __init__(self, rates):
        super().__init__()
        self.rates = nn.Parameter(torch.Tensor([0.1, 0.2]))
        self.more = nn.Parameter(torch.Tensor(rates))


class Filled(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.query, self.bias = nn.Parameter(torch.empty(n, n)), nn.Parameter(torch.empty(n, n))
        self.key = nn.Parameter(torch.FloatTensor(n, n))

    def forward(self, x):
        return x @ self.query @ self.key + self.bias


def fill(module):
    for one in [module.query, module.key, module.bias]:
        one.data.normal_(std=0.02)


class Half(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(a, b))
        self.vector = nn.Parameter(torch.empty(2 * b, 1))  # trap: parameter-never-initialised
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x):
        return x @ self.weight @ self.vector


class Glorot(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.weight = nn.Parameter(torch.Tensor(a, b))
        self.att = nn.Parameter(torch.Tensor(1, b))
        self.reset_parameters()

    def reset_parameters(self):
        glorot(self.weight)
        glorot(self.att)


def glorot(value):
    value.data.uniform_(-0.1, 0.1)


class Peephole(nn.LSTMCell):
    def __init__(self, a, b):
        super().__init__(a, b)
        self.weight_ch = nn.Parameter(torch.Tensor(3 * b, b))
        self.reset_parameters()


class Forgotten(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.table = nn.Parameter(torch.FloatTensor(width, width))  # trap: parameter-never-initialised

    def reset_weights(self):
        self.table.data.uniform_(-0.1, 0.1)

    def forward(self, x):
        return x @ self.table


class OldSpelling(nn.Module):
    def __init__(self, a, b):
        super(OldSpelling, self).__init__()
        self.weight = nn.Parameter(torch.Tensor(a, b))  # trap: parameter-never-initialised

    def reset_parameters(self):
        self.weight.data.uniform_(-0.1, 0.1)

    def forward(self, x):
        return x @ self.weight


def penalty(model):
    total = torch.empty(1)  # trap: parameter-never-initialised
    for p in model.parameters():
        total = total + p.norm() ** 2
    return total


def tally(batches):
    seen = torch.empty(3)  # trap: parameter-never-initialised
    table = torch.empty(2, 3)
    table[:] = 0
    start = torch.empty(1).fill_(0)
    for x in batches:
        seen += x
        table += x
        start = start + x
    return seen, table, start
