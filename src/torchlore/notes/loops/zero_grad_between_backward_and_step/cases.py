import torch


def by_model(model, loader, criterion, optimizer):
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        model.zero_grad()  # trap: zero-grad-between-backward-and-step
        optimizer.step()


class Trainer:
    def __init__(self, model):
        self.model = model
        self.opt = torch.optim.SGD(model.parameters(), lr=0.1)

    def epoch(self, loader, criterion):
        for x, y in loader:
            criterion(self.model(x), y).backward()
            self.opt.zero_grad(set_to_none=True)  # trap: zero-grad-between-backward-and-step
            self.opt.step()


def scaled(model, loader, criterion, optimizer, scaler):
    for x, y in loader:
        scaler.scale(criterion(model(x), y)).backward()
        optimizer.zero_grad()  # trap: zero-grad-between-backward-and-step
        scaler.step(optimizer)
        scaler.update()


def right(model, loader, criterion, optimizer):
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def after(model, loader, criterion, optimizer):
    for x, y in loader:
        criterion(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()


def gan(g, d, loader, criterion, opt_g, opt_d):
    for x, y in loader:
        criterion(d(g(x)), y).backward()
        opt_d.zero_grad()
        opt_g.step()
        opt_g.zero_grad()
        criterion(d(x), y).backward()
        opt_d.step()


def accumulate(model, loader, criterion, optimizer, k):
    for i, (x, y) in enumerate(loader):
        (criterion(model(x), y) / k).backward()
        if i % k == 0:  # trap: accumulation-window-cut-short
            optimizer.step()
            optimizer.zero_grad()


def one_optimizer_for_both(gan: torch.nn.Module, loader, criterion, real, fake):
    both = torch.optim.Adam(gan.parameters())
    for x in loader:
        criterion(gan(x)[1], fake).backward()
        gan.maker.zero_grad()
        both.step()
        criterion(gan(x)[1], real).backward()
        gan.judge.zero_grad()
        both.step()


def body_stays(net: torch.nn.Module, loader, criterion):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        criterion(net(x), y).backward()
        net.body.zero_grad()
        optimizer.step()
