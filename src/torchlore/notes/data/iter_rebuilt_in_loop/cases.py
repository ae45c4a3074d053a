import torch
from torch.utils.data import DataLoader


def steps(model, train_loader, criterion, optimizer):
    for step in range(1000):
        x, y = next(iter(train_loader))  # trap: iter-rebuilt-in-loop
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()


def forever(model, data, criterion, optimizer):
    loader = DataLoader(data, batch_size=4, shuffle=True)
    while True:
        batch = next(iter(loader))  # trap: iter-rebuilt-in-loop
        optimizer.zero_grad()
        criterion(model(batch[0]), batch[1]).backward()
        optimizer.step()


def two_loaders(model, source_loader, target_loader, criterion, optimizer):
    for x, y in source_loader:
        z, _ = next(iter(target_loader))  # trap: iter-rebuilt-in-loop
        optimizer.zero_grad()
        (criterion(model(x), y) + model(z).mean()).backward()
        optimizer.step()


def kept(model, loader, criterion, optimizer):
    batches = iter(loader)
    for step in range(1000):
        try:
            x, y = next(batches)
        except StopIteration:
            batches = iter(loader)
            x, y = next(iter(loader))
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()


def overfit_one_batch(model, loader, criterion, optimizer):
    x, y = next(iter(loader))
    for step in range(100):
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()


def shown_each_epoch(model, loader, test_loader, criterion, optimizer):
    for epoch in range(3):
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
        example, _ = next(iter(test_loader))
        print(example.shape)
    return next(iter(torch.zeros(3)))


def named(model, loader, criterion, optimizer):
    for step in range(1000):
        batches = iter(loader)
        x, y = next(batches)  # trap: iter-rebuilt-in-loop
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
    for epoch in range(3):
        more = iter(loader)
        first, _ = next(more)
        print(first.shape)
        for x, y in more:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
