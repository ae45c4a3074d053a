import torch
from torch.optim.lr_scheduler import CosineAnnealingWarmRestarts, ReduceLROnPlateau

LR = 1e-4


def above(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=LR)
    return CosineAnnealingWarmRestarts(optimizer, T_0=10, eta_min=1e-3)  # trap: floor-at-the-first-rate


def plateau(model):
    optimizer = torch.optim.AdamW(model.parameters(), LR)
    return ReduceLROnPlateau(optimizer, patience=3, min_lr=1e-4)  # trap: floor-at-the-first-rate


def below(model):
    optimizer = torch.optim.AdamW(model.parameters(), LR)
    return ReduceLROnPlateau(optimizer, patience=3, min_lr=1e-6)


def several_rates(model):
    optimizer = torch.optim.AdamW([{"params": model.head.parameters(), "lr": 1e-2}, {"params": model.body.parameters()}], lr=1e-4)
    return torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10, eta_min=1e-3)


def asked_for(model, lr):
    optimizer = torch.optim.AdamW(model.parameters(), lr)
    return torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10, eta_min=1e-3)
