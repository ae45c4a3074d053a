import torch
from torch import nn, optim


def forgotten(loader, epochs):
    model = nn.Linear(4, 2)
    opt = optim.SGD(model.parameters(), lr=0.1)
    scheduler = optim.lr_scheduler.StepLR(opt, step_size=10)  # trap: scheduler-never-stepped
    for _ in range(epochs):
        for x, y in loader:
            opt.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            opt.step()
        print(scheduler.get_last_lr())
    torch.save({"model": model.state_dict(), "scheduler": scheduler.state_dict()}, "last.pt")


class Trainer:
    def __init__(self, model):
        self.model = model
        self.opt = optim.SGD(model.parameters(), lr=0.1)
        self.warm = optim.lr_scheduler.LinearLR(self.opt)
        self.sched = optim.lr_scheduler.SequentialLR(self.opt, [self.warm, optim.lr_scheduler.StepLR(self.opt, 3)], [5])
        self.other = optim.SGD(model.parameters(), lr=0.2)
        self.plan = optim.lr_scheduler.ExponentialLR(self.other, 0.9)  # trap: scheduler-never-stepped

    def fit(self, loader):
        for x, y in loader:
            self.opt.zero_grad()
            nn.functional.cross_entropy(self.model(x), y).backward()
            self.opt.step()
            self.sched.step()


def handed_on(model, loader, fit):
    opt = optim.SGD(model.parameters(), lr=0.1)
    scheduler = optim.lr_scheduler.StepLR(opt, step_size=10)
    for x, y in loader:
        opt.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        opt.step()
    fit(model, opt, scheduler)


def built(model, kind):
    opt = optim.SGD(model.parameters(), lr=0.1)
    if kind == "step":
        scheduler = optim.lr_scheduler.StepLR(opt, 10)
    else:
        scheduler = optim.lr_scheduler.ExponentialLR(opt, 0.9)
    return opt, scheduler


def in_a_list(models, loader):
    opts = [optim.SGD(model.parameters(), lr=0.1) for model in models]
    plans = [optim.lr_scheduler.StepLR(opt, 10) for opt in opts]
    for x, y in loader:
        for model, opt in zip(models, opts, strict=True):
            opt.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            opt.step()
    for plan in plans:
        plan.step()


def built(model):
    opt = optim.Adam(model.parameters())
    plan = optim.lr_scheduler.StepLR(opt, 5)  # trap: scheduler-never-stepped
    return opt, plan


def uses_half(model, loader):
    opt, plan = built(model)
    for x, y in loader:
        opt.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        opt.step()
        print(plan.get_last_lr())


def built_too(model):
    opt = optim.Adam(model.parameters())
    plan = optim.lr_scheduler.StepLR(opt, 5)
    return opt, plan


def uses_both(model, loader):
    opt, sched = built_too(model)
    for x, y in loader:
        opt.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        opt.step()
    sched.step()


def built_for_others(model):
    opt = optim.Adam(model.parameters())
    plan = optim.lr_scheduler.StepLR(opt, 5)
    return {"optimizer": opt, "lr_scheduler": plan}
