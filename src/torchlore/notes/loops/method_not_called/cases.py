"""Other spellings of method-not-called, and code that only looks like it."""
import torch
import torch.distributed as dist
from torch import nn


def train(model: nn.Module, optimizer: torch.optim.Optimizer, scheduler, loader):
    model.train  # trap: method-not-called
    losses = []
    for x, y in loader:
        optimizer.zero_grad  # trap: method-not-called
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward  # trap: method-not-called
        optimizer.step  # trap: method-not-called
        losses.append(loss.item)  # trap: method-not-called
    scheduler.step  # trap: method-not-called
    dist.barrier  # trap: method-not-called
    torch.cuda.synchronize  # trap: method-not-called


# clean
def fine(model: nn.Module, optimizer, config, x):
    model.eval()
    step = optimizer.step
    step()
    config.train
    x.T
    model.weight
    config.basket.append(config.item)
    """a docstring in an odd place"""
    return map(model.eval, [x])
