import torch
from torch.optim import lr_scheduler
from torch.optim.lr_scheduler import StepLR

optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)


def wrong():
    a = StepLR(optimizer, 3, verbose=False)  # trap: scheduler-verbose
    b = torch.optim.lr_scheduler.CosineAnnealingLR(
        optimizer,
        T_max=3,
        verbose=True,  # trap: scheduler-verbose
    )
    c = lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=3, verbose=True)  # trap: scheduler-verbose
    return a, b, c


class EarlyStopping:
    def __init__(self, patience, verbose=True):
        self.patience, self.verbose = patience, verbose


def clean(verbose, my_schedulers):
    a = EarlyStopping(3, verbose=True)
    b = my_schedulers.StepLR(optimizer, verbose=True)
    c = StepLR(optimizer, 3)
    torch.hub.load("a", "b", verbose=verbose)
    return a, b, c
