import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, LinearLR, OneCycleLR, SequentialLR, StepLR

model = nn.Linear(2, 2)


def three_in_a_row():
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = LambdaLR(optimizer, lr_lambda=lambda t: min((t + 1) / 10, 1.0))
    scheduler = CosineAnnealingLR(optimizer, T_max=80)  # trap: schedulers-not-chained
    return scheduler


def left_over():
    opt = torch.optim.AdamW(model.parameters())
    one_cycle = OneCycleLR(opt, max_lr=0.1, total_steps=10)
    decay = StepLR(opt, 3)  # trap: schedulers-not-chained
    return decay


class Trainer:
    def __init__(self):
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        warmup = LinearLR(self.optimizer)
        self.scheduler = StepLR(self.optimizer, 3)  # trap: schedulers-not-chained


def chained():
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    warmup = LinearLR(optimizer, total_iters=5)
    cosine = CosineAnnealingLR(optimizer, T_max=80)
    return SequentialLR(optimizer, [warmup, cosine], milestones=[5])


def both_stepped():
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    warmup = LinearLR(optimizer, total_iters=5)
    decay = StepLR(optimizer, 3)
    return warmup, decay


def chosen(kind):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if kind == "linear":
        scheduler = LinearLR(optimizer)
    else:
        scheduler = StepLR(optimizer, 3)
    return scheduler


def two_optimizers():
    first, second = torch.optim.SGD(model.parameters()), torch.optim.Adam(model.parameters())
    warmup = LinearLR(first)
    decay = StepLR(second, 3)
    return decay


def no_harm_when_built():
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    unused = StepLR(optimizer, 3)
    used = CosineAnnealingLR(optimizer, T_max=80)
    return used
