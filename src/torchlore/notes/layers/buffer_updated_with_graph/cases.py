import torch
from torch import nn


class Bad(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)
        self.register_buffer("mean", torch.zeros(n))
        self.register_buffer("bank", torch.zeros(n))
        self.register_buffer("centre", torch.zeros(n))

    def forward(self, x):
        h = self.fc(x)
        self.mean.mul_(0.9).add_(0.1 * h.mean(0))  # trap: buffer-updated-with-graph
        self.bank = 0.9 * self.bank + 0.1 * h.sum(0)  # trap: buffer-updated-with-graph
        now = x.mean(0)
        self.centre += 0.1 * (now - self.centre)  # trap: buffer-updated-with-graph
        return h - self.mean


class Fine(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)
        self.register_buffer("mean", torch.zeros(n))
        self.register_buffer("steps", torch.zeros(1))
        self.last = None

    def forward(self, x):
        h = self.fc(x)
        self.steps += 1
        self.mean.lerp_(h.detach().mean(0), 0.1)
        with torch.no_grad():
            self.mean.add_(h.mean(0))
            self.mean = self.mean * 0.9 + h.mean(0) * 0.1
        self.last = h
        return h

    @torch.no_grad()
    def update(self, x):
        self.mean += self.fc(x).mean(0)


class Prototypes(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(4, 8)
        self.register_buffer("means", torch.zeros(3, 8))
        self.register_buffer("calm", torch.zeros(3, 8))

    def update(self, x, y):
        z = self.embed(x)
        for c in range(3):
            self.means[c] = 0.9 * self.means[c] + 0.1 * z[y == c].mean(0)  # trap: buffer-updated-with-graph
            self.calm[c] = 0.9 * self.calm[c] + 0.1 * z[y == c].detach().mean(0)
