import torch


def plain(model, loader, criterion, optimizer):
    for i, (x, y) in enumerate(loader):
        loss = criterion(model(x), y)
        loss.backward()  # trap: loss-not-divided-by-accum
        if i % 8 == 7:
            optimizer.step()
            optimizer.zero_grad()


class Trainer:
    def __init__(self, model, accum):
        self.model, self.accum = model, accum
        self.optimizer = torch.optim.AdamW(model.parameters())

    def epoch(self, loader, criterion):
        for step, (x, y) in enumerate(loader):
            criterion(self.model(x), y).backward()  # trap: loss-not-divided-by-accum
            if (step + 1) % self.accum == 0 or step + 1 == len(loader):
                self.optimizer.step()
                self.optimizer.zero_grad()


def scaled(model, loader, criterion, optimizer, scaler, k):
    for i, (x, y) in enumerate(loader):
        scaler.scale(criterion(model(x), y)).backward()  # trap: loss-not-divided-by-accum
        if (i + 1) % k == 0:
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()


def divided(model, loader, criterion, optimizer, k):
    for i, (x, y) in enumerate(loader):
        loss = criterion(model(x), y)
        (loss / k).backward()
        if (i + 1) % k == 0:
            optimizer.step()
            optimizer.zero_grad()


def weighted(model, loader, criterion, optimizer, k, share):
    for i, (x, y) in enumerate(loader):
        loss = criterion(model(x), y) * share
        loss.backward()
        if (i + 1) % k == 0:
            optimizer.step()
            optimizer.zero_grad()


def averaged_later(model, loader, criterion, optimizer, k):
    for i, (x, y) in enumerate(loader):
        criterion(model(x), y).backward()
        if (i + 1) % k == 0:
            for p in model.parameters():
                p.grad.div_(k)
            optimizer.step()
            optimizer.zero_grad()


def logs_sometimes(model, loader, criterion, optimizer):
    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        if i % 100 == 0:
            print(loss.item())


def counted(model, loader, criterion, optimizer, args):
    turns = 0
    optimizer.zero_grad()
    for x, y in loader:
        turns += 1
        loss = criterion(model(x), y)
        loss.backward()  # trap: loss-not-divided-by-accum
        if turns >= args.accum_steps:
            optimizer.step()
            optimizer.zero_grad()
            turns = 0


def warmed_up(model, loader, criterion, optimizer):
    bad_epochs = 0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        if bad_epochs >= 3:
            optimizer.param_groups[0]["lr"] = 1e-4
            bad_epochs = 0
        optimizer.step()


def divided_too_late(model, loader, criterion, optimizer, k):
    for i, (x, y) in enumerate(loader):
        loss = criterion(model(x), y)
        loss.backward()
        loss = loss / k  # trap: loss-not-divided-by-accum
        if (i + 1) % k == 0:
            optimizer.step()
            optimizer.zero_grad()
        print(loss.item())


class Engine:
    def __init__(self, net, criterion, every):
        self.net, self.criterion, self.every, self.turn = net, criterion, every, 0
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def run(self, loader):
        total = 0.0
        for x, y in loader:
            total += self.one(x, y) / len(loader)
        return total

    def one(self, x, y):
        self.turn += 1
        loss = self.criterion(self.net(x), y)
        loss.backward()  # trap: loss-not-divided-by-accum
        if self.turn % self.every == 0:
            self.optimizer.step()
            self.optimizer.zero_grad()
        return loss.item()


class Careful(Engine):
    def run(self, loader):
        for x, y in loader:
            self.turn += 1
            loss = self.share(x, y)
            loss.backward()
            if self.turn % self.every == 0:
                self.optimizer.step()
                self.optimizer.zero_grad()

    def share(self, x, y):
        return self.criterion(self.net(x), y) / self.every
