import torch
from torch import nn
from torch.optim import lr_scheduler

model = nn.Linear(2, 2)
warmup_epochs, total = 5, 50


def capped(loader, criterion):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    sched = lr_scheduler.LambdaLR(opt, lambda e: min(1.0, e / warmup_epochs))  # trap: warmup-from-zero
    for epoch in range(total):
        for x, y in loader:
            opt.zero_grad()
            criterion(model(x), y).backward()
            opt.step()
        sched.step()


def with_float(x, y):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    sched = lr_scheduler.LambdaLR(opt, lr_lambda=lambda ep: float(ep) / float(warmup_epochs))  # trap: warmup-from-zero
    for epoch in range(3):
        opt.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        opt.step()
        sched.step()


def times(x, y):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda k: 0.1 * k)  # trap: warmup-from-zero
    for epoch in range(3):
        opt.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        opt.step()
        sched.step()


def from_one(x, y):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    sched = lr_scheduler.LambdaLR(opt, lambda e: min(1.0, (e + 1) / warmup_epochs))
    for epoch in range(3):
        opt.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        opt.step()
        sched.step()


def decay(x, y):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    sched = lr_scheduler.LambdaLR(opt, lambda e: 1 - e / total)
    for epoch in range(3):
        opt.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        opt.step()
        sched.step()


def one_wasted_step_of_thousands(loader, criterion):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    sched = lr_scheduler.LambdaLR(opt, lambda step: min(1.0, step / 1000))
    for epoch in range(3):
        for x, y in loader:
            opt.zero_grad()
            criterion(model(x), y).backward()
            opt.step()
            sched.step()


def warmed(optimizer, warm, total):
    def factor(step):
        if step < warm:
            return step // max(1, warm)  # trap: learning-rate-zero
        return (total - step) / (total - warm)

    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


def halved(optimizer):
    def factor(step):
        return 0.5 ** (step // 100)

    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
