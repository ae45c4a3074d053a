import torch
from torch import nn


class FeatureMatching(nn.Module):
    def __init__(self):
        super().__init__()
        self.distance = nn.L1Loss()

    def forward(self, fakes, reals):
        total = torch.zeros(())
        for fake, real in zip(fakes, reals, strict=True):
            total += self.distance(fakes, reals)  # trap: whole-list-in-loop
        return total / len(fakes)

    def right(self, fakes, reals):
        total = torch.zeros(())
        for fake, real in zip(fakes, reals, strict=True):
            total += self.distance(fake, real) / len(fakes)
        return total


def by_index(fakes, reals, weights):
    total = torch.zeros(())
    for i, _real, weight in zip(range(len(fakes)), reals, weights, strict=True):
        total += weight * (fakes[i] - reals[i]).abs().mean()
    return total


def against_all(anchors, labels, bank):
    total = torch.zeros(())
    for anchor, label in zip(anchors, labels, strict=True):
        same = bank[labels == label]
        total += torch.cdist(anchor[None], same).mean() + torch.cdist(anchor[None], anchors).mean()
    return total


def strict_pairs(names, values):
    text = ""
    for name, value in zip(names, values, strict=True):
        text += f"{name} of {len(names)}: {value}"
    return text
