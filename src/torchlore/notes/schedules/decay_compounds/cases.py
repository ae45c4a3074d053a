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


def cut(optimizer, factor=0.1):
    for group in optimizer.param_groups:
        group["lr"] *= factor


def in_every_batch(model, loader, optimizer, milestones):
    for epoch in range(90):
        for x, y in loader:
            if epoch in milestones:
                cut(optimizer)  # trap: decay-compounds
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()


def once_an_epoch(model, loader, optimizer, milestones):
    for epoch in range(90):
        if epoch in milestones:
            cut(optimizer)
        for i, (x, y) in enumerate(loader):
            if epoch == 3 and i == 0:
                cut(optimizer)
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()


def by_hand_and_by_scheduler(net, loader, loss, rate):
    opt = torch.optim.SGD(net.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.StepLR(opt, step_size=10, gamma=0.5)
    for epoch in range(30):
        set_rate(opt, rate * 0.9**epoch)  # trap: decay-compounds
        for x, y in loader:
            opt.zero_grad()
            loss(net(x), y).backward()
            opt.step()
        schedule.step()


def set_rate(opt, rate):
    for group in opt.param_groups:
        group["lr"] = rate


def warmed_up_by_hand(net, loader, loss, rate, opt):
    schedule = torch.optim.lr_scheduler.StepLR(opt, step_size=10, gamma=0.5)
    for epoch in range(30):
        if epoch < 5:
            set_rate(opt, rate * (epoch + 1) / 5)
        for x, y in loader:
            opt.zero_grad()
            loss(net(x), y).backward()
            opt.step()
        schedule.step()


def by_name(optimizer, epoch, every=5):
    factor = 0.1 ** (epoch // every)
    half = 0.5
    for group in optimizer.param_groups:
        group["lr"] *= factor  # trap: decay-compounds
        group["lr"] *= half
        group["lr"] *= math.pow(0.5, epoch // 10)  # trap: decay-compounds
        group["lr"] = group["initial_lr"] * factor


def multiplied(optimizer, gamma):
    def share(epoch):
        return gamma**epoch  # trap: decay-compounds

    first = torch.optim.lr_scheduler.MultiplicativeLR(optimizer, lr_lambda=lambda e: 0.95**e)  # trap: decay-compounds
    second = torch.optim.lr_scheduler.MultiplicativeLR(optimizer, share)
    third = torch.optim.lr_scheduler.MultiplicativeLR(optimizer, lr_lambda=lambda e: 0.95)
    return first, second, third, torch.optim.lr_scheduler.LambdaLR(optimizer, lambda e: 0.95**e)
