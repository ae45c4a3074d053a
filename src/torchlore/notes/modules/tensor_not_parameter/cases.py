import torch
from torch import nn


class Variants(nn.Module):
    def __init__(self, n, outside):
        super().__init__()
        self.a = torch.randn(n, n, requires_grad=True)  # trap: tensor-not-parameter
        self.b = torch.zeros(n).requires_grad_()  # trap: tensor-not-parameter
        self.c = nn.Parameter(torch.ones(n))
        self.d = torch.ones(n, requires_grad=True)
        self.extra = [self.d]
        self.e = torch.ones(n, requires_grad=True)
        self.register_buffer("f", torch.ones(n))

    def forward(self, x):
        return x @ self.a + self.b * self.c + self.d + self.e + self.f


class Other:
    def __init__(self, n):
        self.w = torch.randn(n, requires_grad=True)

    def loss(self, x):
        return (x * self.w).sum()


def trained(model):
    return torch.optim.SGD([model.e], lr=0.1)


class Drawn(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.table = nn.init.xavier_uniform_(torch.empty(n, n))  # trap: tensor-not-parameter
        self.weight = torch.empty(n, n)  # trap: tensor-not-parameter
        nn.init.kaiming_uniform_(self.weight)
        self.right = nn.Parameter(nn.init.xavier_uniform_(torch.empty(n, n)))
        self.bound = nn.Parameter(torch.empty(n, n))
        nn.init.xavier_uniform_(self.bound)
        self.register_buffer("fixed", nn.init.orthogonal_(torch.empty(n, n)))
        nn.init.xavier_uniform_(nn.Linear(n, n).weight)

    def forward(self, x):
        return x @ self.table @ self.weight @ self.right @ self.bound @ self.fixed


class Shuffle(nn.Module):
    def __init__(self, idx):
        super().__init__()
        self.register_buffer("order", nn.Parameter(idx, requires_grad=False))
        self.register_buffer("gate", nn.Parameter(torch.zeros(1)))  # trap: tensor-not-parameter

    def forward(self, x):
        return x[:, self.order] * self.gate


class FromArray(nn.Module):
    def __init__(self, table):
        super().__init__()
        w = torch.from_numpy(table)
        self.basis = w.requires_grad_()  # trap: tensor-not-parameter

    def forward(self, x):
        return x @ self.basis
