import torch
from torch import optim
from torch.optim import lr_scheduler


def rebuilt(model, loader, criterion):
    opt = optim.Adam(model.parameters())
    sched = lr_scheduler.StepLR(opt, 3)
    model.fc = torch.nn.Linear(2, 2)
    opt = optim.Adam(model.parameters())  # trap: scheduler-holds-another-optimizer
    for epoch in range(3):
        for x, y in loader:
            opt.zero_grad()
            criterion(model(x), y).backward()
            opt.step()
        sched.step()


def stages(model, train):
    optimizer = optim.SGD(model.head.parameters(), lr=0.1)
    scheduler = lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)
    train(model, optimizer, scheduler)
    optimizer = optim.SGD(model.parameters(), lr=0.01)  # trap: scheduler-holds-another-optimizer
    train(model, optimizer, scheduler)


def both_again(model, train):
    optimizer = optim.SGD(model.head.parameters(), lr=0.1)
    scheduler = lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)
    train(model, optimizer, scheduler)
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    scheduler = lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)
    train(model, optimizer, scheduler)


def not_used_again(model, train, test):
    optimizer = optim.SGD(model.head.parameters(), lr=0.1)
    scheduler = lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)
    train(model, optimizer, scheduler)
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    test(model, optimizer)


def chosen(model, kind):
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    if kind == "adam":
        optimizer = optim.Adam(model.parameters())
    scheduler = lr_scheduler.StepLR(optimizer, 3)
    return optimizer, scheduler


def last(model, train):
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    warm = lr_scheduler.ConstantLR(optimizer)
    second = optim.Adam(model.parameters())  # another name, another optimizer
    third = optim.AdamW(model.parameters())
    train(model, optimizer, warm, second, third)
    optimizer = optim.SGD(model.parameters(), lr=0.1)  # trap: scheduler-holds-another-optimizer
    return optimizer, warm


class TwoStages:
    def __init__(self, net):
        self.net = net
        self.opt = optim.SGD(net.head.parameters(), lr=0.1)
        self.sched = lr_scheduler.StepLR(self.opt, 3)

    def thaw(self):
        self.net.requires_grad_(True)
        self.opt = optim.SGD(self.net.parameters(), lr=0.01)  # trap: scheduler-holds-another-optimizer

    def fit(self, epochs):
        for epoch in range(epochs):
            if epoch == 2:
                self.thaw()
            self.opt.step()
            self.sched.step()


class Together:
    def __init__(self, net):
        self.net = net
        self.reset()
        self.opt = optim.SGD(net.parameters(), lr=0.1)
        self.sched = lr_scheduler.StepLR(self.opt, 3)

    def thaw(self):
        self.opt = optim.SGD(self.net.parameters(), lr=0.01)
        self.sched = lr_scheduler.StepLR(self.opt, 3)

    def reset(self):
        self.plain = optim.SGD(self.net.parameters(), lr=0.01)

    def fit(self):
        self.sched.step()


class Never:
    def __init__(self, net):
        self.opt = optim.SGD(net.parameters(), lr=0.1)
        self.sched = lr_scheduler.StepLR(self.opt, 3)

    def final(self, net):
        self.opt = optim.LBFGS(net.parameters())


def two_nets(G, D):
    optimizer_G = torch.optim.Adam(G.parameters(), lr=2e-4)
    optimizer_D = torch.optim.Adam(D.parameters(), lr=2e-4)
    scheduler_G = torch.optim.lr_scheduler.StepLR(optimizer_G, 10)
    scheduler_D = torch.optim.lr_scheduler.StepLR(optimizer_G, 10)  # trap: scheduler-holds-another-optimizer
    warm_scheduler = torch.optim.lr_scheduler.StepLR(optimizer_D, 10)
    return optimizer_G, optimizer_D, scheduler_G, scheduler_D, warm_scheduler


def shortened(net):
    optm = torch.optim.Adam(net.parameters(), lr=2e-4)
    schedular = torch.optim.lr_scheduler.StepLR(optm, 10)
    lrs_plan = torch.optim.lr_scheduler.StepLR(optm, 10)
    return optm, schedular, lrs_plan


def thawed(model, epochs, train_epoch):
    opt = optim.SGD(model.fc.parameters(), lr=0.1)
    sched = lr_scheduler.StepLR(opt, 3)
    for epoch in range(epochs):
        if epoch == 5:
            opt = optim.SGD(model.parameters(), lr=0.01)  # trap: scheduler-holds-another-optimizer
        train_epoch(model, opt)
        sched.step()


def thawed_well(model, epochs, train_epoch):
    opt = optim.SGD(model.fc.parameters(), lr=0.1)
    sched = lr_scheduler.StepLR(opt, 3)
    for epoch in range(epochs):
        if epoch == 5:
            opt = optim.SGD(model.parameters(), lr=0.01)
            sched = lr_scheduler.StepLR(opt, 3)
        train_epoch(model, opt)
        sched.step()
