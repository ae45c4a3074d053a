import torch
from torch import nn, optim


def in_the_loop(model, loader, criterion):
    for epoch in range(10):
        optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)  # trap: optimizer-rebuilt-every-epoch
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()


class Trainer:
    def __init__(self, net):
        self.net = net

    def run_epoch(self, loader, criterion):
        opt = torch.optim.AdamW(self.net.parameters())  # trap: optimizer-rebuilt-every-epoch
        for x, y in loader:
            opt.zero_grad()
            criterion(self.net(x), y).backward()
            opt.step()

    def fit(self, loader, criterion):
        for epoch in range(5):
            self.run_epoch(loader, criterion)


def counted(model, loader, criterion):
    for cur_epoch in range(10):
        opt = torch.optim.Adam(params=model.parameters())  # trap: optimizer-rebuilt-every-epoch
        for x, y in loader:
            opt.zero_grad()
            criterion(model(x), y).backward()
            opt.step()


def folds(loaders, criterion):
    for fold in range(5):
        model = nn.Linear(2, 2)
        optimizer = optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(10):
            for x, y in loaders[fold]:
                optimizer.zero_grad()
                criterion(model(x), y).backward()
                optimizer.step()


def tasks(model, loaders, criterion):
    for loader in loaders:
        optimizer = optim.SGD(model.parameters(), lr=0.1)
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()


def thawed(model, loader, criterion):
    optimizer = optim.SGD(model.fc.parameters(), lr=0.1)
    for epoch in range(10):
        if epoch == 5:
            optimizer = optim.SGD(model.parameters(), lr=0.01)
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()


def attack(images, loss_of):
    for epoch in range(3):
        delta = nn.Parameter(torch.zeros(3, 32, 32))
        opt = optim.Adam([delta], lr=0.01)
        for image in images:
            opt.zero_grad()
            loss_of(image + delta).backward()
            opt.step()


def schedulers(model, loader, criterion, epochs):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        plan = torch.optim.lr_scheduler.StepLR(opt, 5)  # trap: optimizer-rebuilt-every-epoch
        for x, y in loader:
            opt.zero_grad()
            criterion(model(x), y).backward()
            opt.step()
        plan.step()


def restarts(model, loader, criterion, epochs):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        plan = torch.optim.lr_scheduler.CosineAnnealingLR(opt, len(loader))
        for x, y in loader:
            opt.zero_grad()
            criterion(model(x), y).backward()
            opt.step()
            plan.step()


class Folds:
    def __init__(self):
        self.net = nn.Linear(2, 2).to("cpu")
        self.opt = optim.Adam(self.net.parameters())

    def one_epoch(self, loader, criterion):
        for x, y in loader:
            self.opt.zero_grad()
            criterion(self.net(x), y).backward()
            self.opt.step()

    def all_folds(self, loaders, criterion, epochs):
        for fold_epochs in epochs:
            self.__init__()  # everything anew
            for _ in range(fold_epochs):
                self.one_epoch(loaders[0], criterion)
