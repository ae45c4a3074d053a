import torch
from torch.optim import lr_scheduler


def products(model, train_loader, criterion, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    sched = lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=epochs * len(train_loader))
    for epoch in range(epochs):
        for x, y in train_loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
        sched.step()  # trap: onecycle-per-epoch


def cosine(model, loader, criterion, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    sched = lr_scheduler.CosineAnnealingLR(optimizer, T_max=len(loader) * epochs)
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
        sched.step()  # trap: onecycle-per-epoch


class Trainer:
    def __init__(self, model, loader, epochs):
        self.model, self.loader, self.epochs = model, loader, epochs
        self.optimizer = torch.optim.AdamW(model.parameters())
        self.scheduler = lr_scheduler.OneCycleLR(self.optimizer, 0.1, epochs=epochs, steps_per_epoch=len(loader))

    def one(self, criterion):
        for x, y in self.loader:
            self.optimizer.zero_grad()
            criterion(self.model(x), y).backward()
            self.optimizer.step()

    def fit(self, criterion):
        for epoch in range(self.epochs):
            self.one(criterion)
            self.scheduler.step()  # trap: onecycle-per-epoch


def in_epochs(model, loader, criterion, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    cycle = lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=epochs)
    one = lr_scheduler.OneCycleLR(optimizer, 0.1, epochs=epochs, steps_per_epoch=1)
    cosine = lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
        cycle.step()
        one.step()
        cosine.step()


def in_batches(model, loader, criterion, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    cycle = lr_scheduler.OneCycleLR(optimizer, 0.1, epochs=epochs, steps_per_epoch=len(loader))
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
            cycle.step()


def a_bare_length(model, loader, criterion, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    sched = lr_scheduler.CosineAnnealingLR(optimizer, T_max=len(loader))
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
        if epoch >= 10:
            sched.step()  # trap: onecycle-per-epoch


def named_before(model, loader, criterion, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    total = epochs * len(loader)
    sched = lr_scheduler.CosineAnnealingLR(optimizer, T_max=total)
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
        sched.step()  # trap: onecycle-per-epoch


def when_the_score_falls(model, loader, criterion, epochs, scores):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    sched = lr_scheduler.CosineAnnealingLR(optimizer, T_max=len(loader) * epochs)
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
        if scores[-1] > scores[0]:
            sched.step()
