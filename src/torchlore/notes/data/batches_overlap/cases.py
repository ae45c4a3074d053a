import math

import torch
from torch import nn


class Trainer:
    def __init__(self, net, bs):
        self.net, self.bs = net, bs
        self.opt = torch.optim.Adam(net.parameters())

    def fit(self, x, y, n_batches):
        for b in range(n_batches):
            self.opt.zero_grad()
            part, target = x[:, b : b + self.bs, :], y[:, b : b + self.bs, :]  # trap: batches-overlap
            nn.functional.mse_loss(self.net(part), target).backward()
            self.opt.step()

    def train(self, x, y, bs):
        n_batches = int(x.shape[1] / bs)
        for _ in range(10):
            self.fit(x, y, n_batches)


def evaluate(net, x, batch_size):
    steps = math.ceil(len(x) / batch_size)
    found = []
    with torch.no_grad():
        for i in range(steps):
            found.append(net(x[i : i + batch_size]))  # trap: batches-overlap
    return torch.cat(found)


def by_a_batch(net, x, batch_size):
    found = []
    with torch.no_grad():
        for i in range(0, len(x), batch_size):
            found.append(net(x[i : i + batch_size]))
    return torch.cat(found)


def begun_anew(net, x, batch_size):
    found = []
    with torch.no_grad():
        for i in range(len(x) // batch_size):
            i = i * batch_size
            found.append(net(x[i : i + batch_size]))
    return torch.cat(found)


def windows(series, width):
    return torch.stack([series[i : i + width] for i in range(len(series) - width)])


def all_starts(net, series, batch):
    return [net(series[i : i + batch]) for i in range(len(series) - batch + 1)]


def every_start(net, series, batch_size):
    found = []
    for i in range(len(series)):
        found.append(net(series[i : i + batch_size]))
    return found


def by_name(net, x, num_batches, batch_size):
    for i in range(num_batches):
        yield net(x[i : i + batch_size])  # trap: batches-overlap


def slid(net, x, num_batches, batch_size):
    for i in range(num_batches):
        yield net(x[i : i + batch_size])


def sliding(net, x, batch_size):
    return list(slid(net, x, len(x) - batch_size, batch_size))
