import torch
import torchmetrics


def evaluated(model, loader, epochs):
    acc = torchmetrics.Accuracy(task="multiclass", num_classes=3)
    for epoch in range(epochs):
        model.eval()
        with torch.no_grad():
            for x, y in loader:
                acc.update(model(x), y)
        print(epoch, acc.compute())  # trap: metric-not-reset


def made_anew(model, loader, epochs):
    for epoch in range(epochs):
        acc = torchmetrics.Accuracy(task="multiclass", num_classes=3)
        with torch.no_grad():
            for x, y in loader:
                acc.update(model(x), y)
        print(epoch, acc.compute())


def over_the_stream(model, loader, opt, criterion):
    seen = torchmetrics.MeanMetric()
    for task in range(3):
        for x, y in loader:
            opt.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            opt.step()
            seen.update(loss.item())
        print(task, seen.compute())


def once(model, loader):
    acc = torchmetrics.Accuracy(task="multiclass", num_classes=3)
    with torch.no_grad():
        for x, y in loader:
            acc.update(model(x), y)
    return acc.compute()


def reset_first(model, loader, epochs):
    acc = torchmetrics.Accuracy(task="multiclass", num_classes=3)
    for epoch in range(epochs):
        acc.reset()
        with torch.no_grad():
            for x, y in loader:
                acc.update(model(x), y)
        print(epoch, acc.compute())
