import torch
from torch.optim.lr_scheduler import ReduceLROnPlateau


def kept_the_best(model, train_loader, val_loader, criterion, opt, epochs):
    best_loss = float("inf")
    for _ in range(epochs):
        for x, y in train_loader:
            opt.zero_grad()
            criterion(model(x), y).backward()
            opt.step()
        model.eval()
        with torch.no_grad():
            for x, y in val_loader:
                val_loss = criterion(model(x), y)
        model.train()
        if val_loss < best_loss:  # trap: last-batch-for-the-epoch
            best_loss = val_loss
            torch.save(model.state_dict(), "best.pt")


def stopped(model, loader, criterion, opt, early_stopping, epochs):
    for _ in range(epochs):
        for batch_idx, (x, y) in enumerate(loader):
            opt.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            opt.step()
        train_loss = loss.item()
        early_stopping(train_loss, model)  # trap: last-batch-for-the-epoch


def mean_thrown_away(model, val_loader, criterion):
    val_loss = 0.0
    for i, (x, y) in enumerate(val_loader):
        loss = criterion(model(x), y)
        val_loss += loss.item()
    val_loss = val_loss / len(val_loader)
    return loss.item()  # trap: last-batch-for-the-epoch


def whole_batch(model, x, y, criterion, opt, epochs):
    scheduler = ReduceLROnPlateau(opt)
    best_loss = float("inf")
    for _ in range(epochs):
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
        scheduler.step(loss)
        if loss < best_loss:
            best_loss = loss.item()


def restarts(make, x, y, criterion):
    best_loss = float("inf")
    for seed in range(5):
        model = make(seed)
        for _ in range(100):
            loss = criterion(model(x), y)
        if loss < best_loss:
            best_loss = loss


def summed(model, loader, criterion, opt, epochs):
    scheduler = ReduceLROnPlateau(opt)
    for _ in range(epochs):
        loss = 0.0
        for x, y in loader:
            loss += criterion(model(x), y).item()
        loss = loss / len(loader)
        scheduler.step(loss)


def per_batch(model, loader, criterion, opt):
    scheduler = ReduceLROnPlateau(opt)
    for x, y in loader:
        loss = criterion(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        scheduler.step(loss)  # trap: epoch-scheduler-per-batch
    return loss.item()


def replaced(model, loader):
    correct, total = 0, 0
    with torch.no_grad():
        for x, y in loader:
            pred = model(x).argmax(1)
            total = y.size(0)
            correct = (pred == y).sum().item()  # trap: last-batch-for-the-epoch
    return correct / total


def shown_each_time(model, loader):
    correct = 0
    for x, y in loader:
        correct = (model(x).argmax(1) == y).sum().item()
        print(correct)
    return correct


def summed(model, loader):
    correct = 0
    for x, y in loader:
        correct += (model(x).argmax(1) == y).sum().item()
    return correct / len(loader.dataset)


def sizes_alone(loader):
    size = total = 0
    for _, y in loader:
        size = y.size(0)
        total += y.size(0)
    return total - size


def last_beside_mean(model, test_loader):
    totals, n = [], 0
    for x, y in test_loader:
        loss, acc = model(x, y)
        totals.append(torch.tensor([loss.item(), acc.item()]) * len(y))
        n += len(y)
    return torch.stack(totals).sum(0)[0] / n, acc.item()  # trap: last-batch-for-the-epoch


def last_on_purpose(model, test_loader):
    total, n = 0.0, 0
    for x, y in test_loader:
        loss, acc = model(x, y)
        total += loss.item() * len(y)
        n += len(y)
    return total / n, acc.item()
