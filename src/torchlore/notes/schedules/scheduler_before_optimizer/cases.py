import torch
from torch.optim.lr_scheduler import CosineAnnealingLR, ReduceLROnPlateau, StepLR


def train(model, loader, optimizer):
    for x in loader:
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()


def wrong(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = StepLR(optimizer, 30)
    for epoch in range(3):
        schedule.step()  # trap: scheduler-before-optimizer
        train(model, loader, optimizer)


def wrong_each_batch(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = CosineAnnealingLR(optimizer, len(loader))
    for x in loader:
        optimizer.zero_grad()
        model(x).mean().backward()
        schedule.step()  # trap: scheduler-before-optimizer
        optimizer.step()


def right(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = StepLR(optimizer, 30)
    for epoch in range(3):
        train(model, loader, optimizer)
        schedule.step()


def resumed(model, loader, start):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = StepLR(optimizer, 30)
    for epoch in range(3):
        if epoch > start:
            schedule.step()
        train(model, loader, optimizer)


def plateau(model, loader, score):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = ReduceLROnPlateau(optimizer)
    for epoch in range(3):
        schedule.step(score)
        train(model, loader, optimizer)


def one_or_the_other(model, loader, criterion, optimizer, scheduler=None):
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        if scheduler is not None:
            scheduler.step()
        else:
            optimizer.step()  # trap: scheduler-before-optimizer


def with_or_without(model, loader, criterion, optimizer, scheduler=None):
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
        if scheduler is not None:
            scheduler.step()


def plateau_or_step(model, loader, criterion, optimizer, scheduler, late):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        if late:
            scheduler.step()
