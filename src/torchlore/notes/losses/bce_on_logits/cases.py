"""Layers that are collected in a list: only the last one says what comes out."""
import torch
from torch import nn


def block(n, m, activation=None):
    layers = [nn.Linear(n, m)]
    layers.append(nn.LeakyReLU(0.2) if activation is None else activation)
    return layers


class Collected(nn.Module):
    def __init__(self, last):
        super().__init__()
        layers = [nn.Linear(4, 4), nn.ReLU()]
        layers.append(nn.Linear(4, 1))
        self.raw = nn.Sequential(*layers)
        ends = [nn.Linear(4, 1)]
        ends.append(nn.Sigmoid())
        self.sure = nn.Sequential(*ends)
        grown = [nn.Linear(4, 1)]
        grown += [last]
        self.grown = nn.Sequential(*grown)
        self.made = nn.Sequential(*block(4, 8), *block(8, 1, activation=nn.Sigmoid()))


def collected(x, y):
    net = Collected(nn.Sigmoid())
    fine = nn.BCELoss()(net.sure(x), y) + nn.BCELoss()(net.grown(x), y) + nn.BCELoss()(net.made(x), y)
    return fine + nn.BCELoss()(net.raw(x), y)  # trap: bce-on-logits


class Weighted(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(4, 1)

    def forward(self, x):
        return torch.clamp(self.mix(x), 0, 1), self.mix(x).clamp(min=1e-6, max=0.999), self.mix(x).clamp(-5, 5)


def weighted(x, y):
    mixed, inside, wide = Weighted()(x)
    sure = nn.functional.binary_cross_entropy(mixed, y) + nn.functional.binary_cross_entropy(inside, y)
    return sure + nn.functional.binary_cross_entropy(wide, y)  # trap: bce-on-logits


class Cut(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)

    def forward(self, x):
        return torch.clamp(self.fc(torch.relu(x)), 0, 1)  # trap: bce-on-logits


class Kept(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)

    def forward(self, x):
        return torch.sigmoid(self.fc(x)).clamp(1e-6, 1 - 1e-6)


def cut_and_kept(x, y):
    cut, kept, head = Cut(), Kept(), nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    a, b = nn.functional.binary_cross_entropy(cut(x), y), nn.BCELoss()(kept(x), y)
    return a + b + nn.BCELoss()(head(x).clamp(min=0.0, max=1.0), y)  # trap: bce-on-logits
