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
