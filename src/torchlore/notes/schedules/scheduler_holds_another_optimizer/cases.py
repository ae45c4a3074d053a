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
