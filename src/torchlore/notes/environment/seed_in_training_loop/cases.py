import random

import torch
from torch import nn


def seed_all(seed):
    random.seed(seed)
    torch.manual_seed(seed)


def train(model, loader, optimizer, criterion, args):
    for epoch in range(10):
        seed_all(args.seed)  # trap: seed-in-training-loop
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
        print(epoch)


def by_epoch(model, loader, optimizer, criterion, args):
    for epoch in range(10):
        seed_all(args.seed + epoch)
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()


def compare(loader, criterion, rates):
    for rate in rates:
        torch.manual_seed(0)
        model = nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=rate)
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()


def many(model, loader, optimizer, criterion, seeds):
    for seed in seeds:
        torch.manual_seed(seed)
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()


class Noisy(torch.utils.data.Dataset):
    def __init__(self, x, seed):
        self.x, self.seed = x, seed

    def __getitem__(self, i):
        torch.manual_seed(self.seed)  # trap: seed-in-training-loop
        return self.x[i] + torch.randn(3)


class ByItem(torch.utils.data.Dataset):
    def __init__(self, x, seed):
        self.x, self.seed = x, seed

    def __getitem__(self, i):
        torch.manual_seed(self.seed + i)
        draw = random.randint(0, 9)
        random.seed(draw)
        return self.x[i] + torch.randn(3)


class ValNoise(torch.utils.data.Dataset):
    def __getitem__(self, i):
        torch.manual_seed(0)
        return torch.randn(3) + i


def noise(n, seed=None):
    if seed is not None:
        torch.manual_seed(seed)
    return torch.randn(n, 3)


def draws(net, optimizer, batches):
    for x in batches:
        optimizer.zero_grad()
        other = noise(8)
        same = noise(8, seed=3)  # trap: seed-in-training-loop
        net(x + other + same).mean().backward()
        optimizer.step()


def one_epoch(model, data, optimizer, seed):
    torch.manual_seed(seed)  # trap: seed-in-training-loop
    for x, y in data:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x + torch.randn_like(x)), y).backward()
        optimizer.step()


def other_epoch(model, data, optimizer, seed):
    torch.manual_seed(seed)
    for x, y in data:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x + torch.randn_like(x)), y).backward()
        optimizer.step()


def both(model, data, optimizer):
    for _ in range(5):
        one_epoch(model, data, optimizer, 3)
    for epoch in range(5):
        other_epoch(model, data, optimizer, 3 + epoch)


def shuffled(data, seed):
    order = torch.Generator()
    order.manual_seed(seed)
    return torch.utils.data.DataLoader(data, 8, shuffle=True, generator=order)


def fit(net, optimizer, data, parts):
    for _ in range(5):
        for x in shuffled(data, 1):  # trap: seed-in-training-loop
            optimizer.zero_grad()
            net(x).mean().backward()
            optimizer.step()
    for epoch in range(5):
        for x in shuffled(data, epoch):
            optimizer.zero_grad()
            net(x).mean().backward()
            optimizer.step()
    for part in parts:
        for x in shuffled(part, 1):
            optimizer.zero_grad()
            net(x).mean().backward()
            optimizer.step()
