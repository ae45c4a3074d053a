import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn


def net():
    return nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2))


def swa(loader, evaluate, one_epoch, optimizer):
    model = net()
    swa_model = AveragedModel(model)
    for epoch in range(10):
        one_epoch(model, loader, optimizer)
        if epoch > 5:
            swa_model.update_parameters(model)
    return evaluate(swa_model, loader)  # trap: swa-without-update-bn


class Trainer:
    def __init__(self):
        self.model = net()
        self.average = AveragedModel(self.model, use_buffers=True)

    def fit(self, loader, one_epoch):
        for _ in range(10):
            one_epoch(self.model, loader)
            self.average.update_parameters(self.model)
        return self.average.eval()


def ema(loader, evaluate, one_epoch):
    model = net()
    slow = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.99))
    for _ in range(10):
        one_epoch(model, loader)
        slow.update_parameters(model)
    return evaluate(slow, loader)


def only_saved(loader, one_epoch, path):
    model = net()
    kept = AveragedModel(model)
    for _ in range(10):
        one_epoch(model, loader)
        kept.update_parameters(model)
    torch.save(kept.state_dict(), path)


def seen_again(loader, evaluate, one_epoch):
    model = net()
    other = AveragedModel(model)
    for _ in range(10):
        one_epoch(model, loader)
        other.update_parameters(model)
    other.train()
    with torch.no_grad():
        for x, _ in loader:
            other(x)
    return evaluate(other, loader)
