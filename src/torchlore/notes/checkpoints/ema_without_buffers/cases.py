import copy

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU())

    def forward(self, x):
        return self.body(x)


def update(target, source, decay):
    with torch.no_grad():
        for a, b in zip(target.parameters(), source.parameters(), strict=True):  # trap: ema-without-buffers
            a.data = decay * a.data + (1 - decay) * b.data


def train(loader, criterion):
    net = Net()
    slow = copy.deepcopy(net)
    optimizer = torch.optim.Adam(net.parameters())
    for x, y in loader:
        optimizer.zero_grad()
        criterion(net(x), y).backward()
        optimizer.step()
        update(slow, net, 0.99)
    slow.eval()
    return slow


def plain(loader, criterion):
    net = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4))
    slow = copy.deepcopy(net)
    slow.eval()
    for a, b in zip(slow.parameters(), net.parameters(), strict=True):
        a.data.mul_(0.9).add_(b.data, alpha=0.1)
    return slow


def in_training_mode(net):
    teacher = Net()
    for a, b in zip(teacher.parameters(), net.parameters(), strict=True):
        a.data.mul_(0.9).add_(b.data, alpha=0.1)
    return teacher


class Follower(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.slow = copy.deepcopy(model)

    def follow(self, model):
        for a, p in zip(self.slow.parameters(), model.parameters()):  # trap: ema-without-buffers
            a.data.lerp_(p.data, 0.01)

    def forward(self, x):
        return self.slow(x)


def score(network, x):
    network.eval()
    return network(x)


wrapper = Follower(nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8)))
print(score(wrapper, torch.randn(3, 4)))


def judge(network, x):
    network.eval()
    return network(x)


def make():
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8))


student, teacher = make(), make()
for slow, fast in zip(teacher.parameters(), student.parameters()):  # trap: ema-without-buffers
    slow.data.mul_(0.9).add_(fast.data, alpha=0.1)
print(judge(student, torch.randn(3, 4)), judge(teacher, torch.randn(3, 4)))
