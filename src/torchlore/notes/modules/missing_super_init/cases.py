import torch
from torch import nn


class NoCall(nn.Module):
    def __init__(self, n):  # trap: missing-super-init
        self.weight = nn.Parameter(torch.zeros(n))


class Late(nn.Module):
    def __init__(self):
        self.fc = nn.Linear(2, 2)  # trap: missing-super-init
        super().__init__()


class Base(nn.Module):
    def __init__(self):
        super(Base, self).__init__()
        self.fc = nn.Linear(2, 2)


class Child(Base):
    def __init__(self):  # trap: missing-super-init
        self.extra = 3

    def forward(self, x):
        return self.fc(x)


class OldStyle(nn.Module):
    def __init__(self):
        nn.Module.__init__(self)
        self.fc = nn.Linear(2, 2)


class Early(nn.Module):
    def __init__(self, n):
        self.n = n
        super().__init__()
        self.fc = nn.Linear(n, n)


class Inherited(Base):
    def forward(self, x):
        return self.fc(x)


class NotAModule:
    def __init__(self):
        self.fc = nn.Linear(2, 2)


class Sketch(nn.Module):
    def __init__(self, size):
        ...

    def forward(self, x):
        ...


class Mixin(nn.Module):
    def __init__(self, size):
        self.bias = nn.Parameter(torch.zeros(size))

    def forward(self, x):
        return x + self.bias


class Mixed(Mixin, nn.Linear):
    def __init__(self, size):
        nn.Linear.__init__(self, size, size)
        Mixin.__init__(self, size)
