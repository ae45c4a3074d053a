import math

import torch


class Poly:
    def __init__(self, optimizer, base, steps):
        self.optimizer, self.base, self.steps = optimizer, base, steps

    def wrong(self, i):
        for g in self.optimizer.param_groups:
            g["lr"] = g["lr"] * (1 - i / self.steps) ** 0.9  # trap: decay-compounds

    def right(self, i):
        for g in self.optimizer.param_groups:
            g["lr"] = self.base * (1 - i / self.steps) ** 0.9


def steps(optimizer, epoch, milestones, total):
    for group in optimizer.param_groups:
        group["lr"] *= 0.1 ** (epoch // 30)  # trap: decay-compounds
        group["lr"] *= 0.5 * (1 + math.cos(math.pi * epoch / total))  # trap: decay-compounds


def fine(optimizer, epoch, milestones, gamma, last):
    for group in optimizer.param_groups:
        group["lr"] *= 0.95
        group["lr"] = group["initial_lr"] * 0.1 ** (epoch // 30)
        group["lr"] *= gamma ** (epoch - last)
        group["weight_decay"] = group["weight_decay"] * 2**epoch
        if epoch in milestones:
            group["lr"] *= 0.1**2
        group["lr"] = group["lr"] * gamma ** (1 / 3)
    return torch.tensor(0.1) ** epoch
