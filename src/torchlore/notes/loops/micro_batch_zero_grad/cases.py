import torch


def enumerated(model, loader, criterion, optimizer, accum):
    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad(set_to_none=True)  # trap: micro-batch-zero-grad
        (criterion(model(x), y) / accum).backward()
        if (i + 1) % accum == 0 or i + 1 == len(loader):
            optimizer.step()


class Trainer:
    def __init__(self, model):
        self.model, self.seen = model, 0
        self.optimizer = torch.optim.AdamW(model.parameters())

    def epoch(self, loader, criterion):
        for x, y in loader:
            loss = criterion(self.model(x), y) / 8
            self.optimizer.zero_grad()  # trap: micro-batch-zero-grad
            loss.backward()
            self.seen += 1
            if self.seen % 8 == 0:
                self.optimizer.step()


def scaled(model, loader, criterion, optimizer, scaler, k):
    for i, (x, y) in enumerate(loader):
        model.zero_grad()  # trap: micro-batch-zero-grad
        scaler.scale(criterion(model(x), y) / k).backward()
        if i % k == k - 1:
            scaler.step(optimizer)
            scaler.update()


def right(model, loader, criterion, optimizer, k):
    for i, (x, y) in enumerate(loader):
        (criterion(model(x), y) / k).backward()
        if (i + 1) % k == 0:
            optimizer.step()
            optimizer.zero_grad()


def zero_at_the_start_of_a_window(model, loader, criterion, optimizer, k):
    for i, (x, y) in enumerate(loader):
        if i % k == 0:
            optimizer.zero_grad()
        (criterion(model(x), y) / k).backward()
        if (i + 1) % k == 0:
            optimizer.step()


def nested(model, loader, criterion, optimizer, k):
    for batches in loader:
        optimizer.zero_grad()
        for x, y in batches:
            (criterion(model(x), y) / k).backward()
        optimizer.step()


def sometimes_logged(model, loader, criterion, optimizer):
    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        if i % 10 == 0:
            print(loss.item())


def seldom(model, loader, criterion, optimizer, k):
    for i, (x, y) in enumerate(loader):
        loss = criterion(model(x), y) / k
        if (i + 1) % k == 0:
            loss.backward()  # trap: micro-batch-zero-grad
            optimizer.step()
            optimizer.zero_grad()


def replayed(model, loader, criterion, optimizer, k):
    for i, (x, y) in enumerate(loader):
        out = model(x)
        if (i + 1) % k == 0:
            optimizer.zero_grad()
            criterion(out, y).backward()
            optimizer.step()


def same_turn(model, loader, criterion, optimizer, k):
    for i, (x, y) in enumerate(loader, 1):
        if i % k == 0:
            optimizer.zero_grad()  # trap: micro-batch-zero-grad
        (criterion(model(x), y) / k).backward()
        if i % k == 0:
            optimizer.step()


def first_and_last(model, loader, criterion, optimizer, k):
    for i, (x, y) in enumerate(loader):
        if i % k == 0:
            optimizer.zero_grad()
        (criterion(model(x), y) / k).backward()
        if (i + 1) % k == 0:
            optimizer.step()


def only_without(model, loader, criterion, optimizer, k):
    for i, (x, y) in enumerate(loader):
        loss = criterion(model(x), y)
        if k > 1:
            loss = loss / k
        else:
            loss.backward()  # trap: micro-batch-zero-grad
        if (i + 1) % k == 0:
            optimizer.step()
            optimizer.zero_grad()


def scaled_or_not(model, loader, criterion, optimizer, scaler, k):
    for i, (x, y) in enumerate(loader):
        loss = criterion(model(x), y) / k
        if scaler is not None:
            scaler.scale(loss).backward()
        else:
            loss.backward()
        if (i + 1) % k == 0:
            optimizer.step()
            optimizer.zero_grad()
