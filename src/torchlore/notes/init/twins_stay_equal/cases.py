"""Other spellings of twins-stay-equal, and code that only looks like it."""
import copy
from copy import deepcopy

import torch
from torch import nn


class Critics:
    def __init__(self, n):
        self.q1 = nn.Sequential(nn.Linear(n, 8), nn.ReLU(), nn.Linear(8, 1))
        self.q2 = copy.deepcopy(self.q1)  # trap: twins-stay-equal
        self.q1_target, self.q2_target = copy.deepcopy(self.q1), copy.deepcopy(self.q2)
        self.optimizer = torch.optim.Adam([*self.q1.parameters(), *self.q2.parameters()], lr=1e-3)

    def learn(self, x, y):
        loss = nn.functional.mse_loss(self.q1(x), y) + nn.functional.mse_loss(self.q2(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def ensemble(x, y):
    left = nn.Linear(4, 1)
    right = deepcopy(left)  # trap: twins-stay-equal
    params = list(left.parameters()) + list(right.parameters())
    optimizer = torch.optim.SGD(params, lr=0.1)
    loss = nn.functional.mse_loss((left(x) + right(x)) / 2, y)
    loss.backward()
    optimizer.step()


def filled_anew(x, y, start):
    left = nn.Linear(4, 1)
    right = deepcopy(left)
    right.apply(start)
    optimizer = torch.optim.SGD([*left.parameters(), *right.parameters()], lr=0.1)
    nn.functional.mse_loss(left(x) + right(x), y).backward()
    optimizer.step()


def two_domains(x, other, y):
    near = nn.Linear(4, 1)
    far = deepcopy(near)
    optimizer = torch.optim.SGD([*near.parameters(), *far.parameters()], lr=0.1)
    (nn.functional.mse_loss(near(x), y) + nn.functional.mse_loss(far(other), y)).backward()
    optimizer.step()


class Delayed:
    def __init__(self, n):
        self.net = nn.Linear(n, 1)
        self.target = copy.deepcopy(self.net)
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def learn(self, x):
        nn.functional.mse_loss(self.net(x), self.target(x).detach()).backward()
        self.optimizer.step()


class Member(nn.Module):
    def __init__(self, n, seed=0):
        super().__init__()
        torch.manual_seed(seed)
        self.net = nn.Linear(n, 1)


class Ensemble(nn.Module):
    def __init__(self, n, size, seeds):
        super().__init__()
        self.same = nn.ModuleList([Member(n) for _ in range(size)])  # trap: twins-stay-equal
        self.other = nn.ModuleList([Member(n, seed=one) for one in range(size)])
        self.given = nn.ModuleList(Member(n, one) for one in seeds)


def folds(n, size):
    return [Member(n, 7) for _ in range(size)]  # each is trained on other data
