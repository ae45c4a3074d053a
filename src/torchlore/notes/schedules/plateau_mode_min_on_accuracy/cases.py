import torch
from torch import nn
from torch.optim import lr_scheduler

model = nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
falling = lr_scheduler.ReduceLROnPlateau(optimizer, "min", patience=3)  # trap: plateau-mode-min-on-accuracy
growing = lr_scheduler.ReduceLROnPlateau(optimizer, mode="max")  # trap: plateau-mode-min-on-accuracy
plain = lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5)  # trap: plateau-mode-min-on-accuracy
chosen = lr_scheduler.ReduceLROnPlateau(optimizer, mode=input())
steps = lr_scheduler.StepLR(optimizer, 3)


def wrong(valid_accuracy, stats, val_loss):
    falling.step(valid_accuracy)
    plain.step(stats.mean_iou)
    growing.step(val_loss)
    plain.step()  # trap: plateau-mode-min-on-accuracy


def clean(val_acc, val_loss, score, accuracy_loss):
    falling.step(val_loss)
    growing.step(val_acc)
    chosen.step(val_acc)
    falling.step(-val_acc)
    falling.step(1 - val_acc)
    plain.step(score)
    plain.step(accuracy_loss)
    plain.step(metrics=val_loss)
    steps.step()


def either_kind(val_score):
    if isinstance(growing, lr_scheduler.ReduceLROnPlateau):
        growing.step(val_score)
    else:
        growing.step()


def by_the_epoch(optimizer, train, epochs):
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
    for epoch in range(epochs):
        train()
        scheduler.step(epoch)  # trap: plateau-mode-min-on-accuracy


class ByKind:
    def __init__(self, optimizer, kind):
        self.kind = kind
        self.scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)

    def after(self, val_loss):
        if self.kind.lower() == "reducelronplateau":
            self.scheduler.step(val_loss)
        else:
            self.scheduler.step()


def takes_it_for_an_epoch(opt, losses):
    plan = torch.optim.lr_scheduler.StepLR(opt, 3)
    warm = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, 10)
    for epoch, val_loss in enumerate(losses):
        opt.step()
        plan.step(val_loss)  # trap: plateau-mode-min-on-accuracy
        plan.step()
        warm.step(epoch)


def mean_of_batches(opt, losses):
    plan = torch.optim.lr_scheduler.StepLR(opt, 10)
    plan.step(sum(losses) / len(losses))  # trap: plateau-mode-min-on-accuracy


def by_configuration(opt, val_loss):
    config = {"mode": "max"}
    plan = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, config["mode"])  # trap: plateau-mode-min-on-accuracy
    plan.step(val_loss)


class Configured:
    def __init__(self, net, options, how):
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        self.waits = lr_scheduler.ReduceLROnPlateau(self.optimizer, **options["slow"])  # trap: plateau-mode-min-on-accuracy
        self.grows = lr_scheduler.ReduceLROnPlateau(self.optimizer, **options["high"])
        self.unknown = lr_scheduler.ReduceLROnPlateau(self.optimizer, **how)

    def after_epoch(self, scores):
        self.waits.step(scores["f1"])
        self.grows.step(scores["f1"])
        self.unknown.step(scores["f1"])


def configure(net, how):
    return Configured(net, {"slow": {"factor": 0.5, "patience": 2}, "high": {"mode": "max", "patience": 2}}, how)
