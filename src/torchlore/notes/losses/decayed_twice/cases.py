import torch
from torch import nn


class Trainer:
    def __init__(self, rate):
        self.net = nn.Linear(4, 2)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=rate, weight_decay=1e-4)

    def step(self, x, y):
        loss = nn.functional.cross_entropy(self.net(x), y)
        reg = 0.0
        for p in self.net.parameters():  # trap: decayed-twice
            reg = reg + torch.norm(p) ** 2
        loss = loss + 1e-4 * reg
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()


def in_place(x, y):
    net = nn.Linear(4, 2)
    opt = torch.optim.SGD(net.parameters(), 0.1, weight_decay=1e-3)
    loss = nn.functional.cross_entropy(net(x), y)
    for _, w in net.named_parameters():  # trap: decayed-twice
        loss += 0.001 * torch.sum(w**2)
    opt.zero_grad()
    loss.backward()
    opt.step()


def sparse_and_decayed(x, y):
    net = nn.Linear(4, 2)
    opt = torch.optim.SGD(net.parameters(), 0.1, weight_decay=1e-3)
    sparse = sum(p.abs().sum() for p in net.parameters())
    loss = nn.functional.cross_entropy(net(x), y) + 0.001 * sparse
    opt.zero_grad()
    loss.backward()
    size = sum(p.grad.pow(2).sum() for p in net.parameters()) ** 0.5
    weights = sum(p.pow(2).sum() for p in net.parameters())
    print(size, weights)
    opt.step()


def by_hand_alone(x, y):
    net = nn.Linear(4, 2)
    opt = torch.optim.SGD(net.parameters(), 0.1, weight_decay=0)
    loss = nn.functional.cross_entropy(net(x), y) + 0.01 * sum(p.pow(2).sum() for p in net.parameters())
    opt.zero_grad()
    loss.backward()
    opt.step()


def tuned(x, y, l2=1e-2):
    net = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, weight_decay=l2)
    penalty = sum(p.pow(2).sum() for p in net.parameters())  # trap: decayed-twice
    loss = nn.functional.mse_loss(net(x), y) + 0.5 * l2 * penalty
    loss.backward()
    optimizer.step()


def switched_off(x, y, l2=1e-2, decay=0.0):
    net = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, weight_decay=decay)
    penalty = sum(p.pow(2).sum() for p in net.parameters())
    loss = nn.functional.mse_loss(net(x), y) + 0.5 * l2 * penalty
    loss.backward()
    optimizer.step()


class Penalised(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 1)

    def l2(self):
        return sum((p**2).sum() for p in self.parameters())

    def forward(self, x):
        return self.out(x)


def by_a_method(x, y):
    net, plain = Penalised(), Penalised()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, weight_decay=1e-3)
    other = torch.optim.SGD(plain.parameters(), lr=0.1)
    loss = nn.functional.mse_loss(net(x), y) + 1e-3 * net.l2()  # trap: decayed-twice
    return optimizer, other, loss, nn.functional.mse_loss(plain(x), y) + 1e-3 * plain.l2()
