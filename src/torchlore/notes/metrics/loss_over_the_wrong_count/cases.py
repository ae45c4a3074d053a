import torch
from torch import nn


def summed_means(model, test_loader, criterion):
    test_loss = 0
    for x, y in test_loader:
        loss = criterion(model(x), y)
        test_loss += loss.item()
    test_loss /= len(test_loader.dataset)  # trap: loss-over-the-wrong-count
    return test_loss


def weighted_by_batches(model, loader, criterion, optimizer):
    running_loss = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        running_loss += loss.item() * x.size(0)
    return running_loss / len(loader)  # trap: loss-over-the-wrong-count


def with_len(model, val_loader, criterion):
    total = 0.0
    for x, y in val_loader:
        val_loss = criterion(model(x), y)
        total += len(x) * val_loss.item()
    print(total / len(val_loader))  # trap: loss-over-the-wrong-count


def right(model, loader, criterion, names):
    means = weighted = seen = regular = 0.0
    for x, y in loader:
        loss = criterion(model(x), y)
        means += loss.item()
        weighted += loss.item() * x.size(0)
        seen += x.size(0)
        regular += loss.item() * 0.5
    return means / len(loader), weighted / len(loader.dataset), weighted / seen, regular / len(loader), means / len(names)


def counted(model, loader):
    correct = 0
    for x, y in loader:
        correct += (model(x).argmax(1) == y).sum().item()
    return correct / len(loader.dataset)


class Meter:
    def update(self, value, n):
        self.total += value * n
        self.count += n

    def mean(self):
        return self.total / self.count


def nominal(args, model, loader, criterion):
    total = 0.0
    for x, y in loader:
        total += criterion(model(x), y).item() * args.batch_size  # trap: loss-over-the-wrong-count
    return total / len(loader.dataset)


def measured(model, loader, criterion):
    total = 0.0
    for x, y in loader:
        batch_size = x.size(0)
        total += criterion(model(x), y).item() * batch_size
    return total / len(loader.dataset)


def last_index(model, val_loader, criterion):
    total = 0.0
    for step, (x, y) in enumerate(val_loader):
        total += criterion(model(x), y).item()
    return total / step  # trap: loss-over-the-wrong-count


def the_other_loader(model, train_loader, val_loader, criterion, epochs):
    for _ in range(epochs):
        train_sum = val_sum = 0.0
        for x, y in train_loader:
            train_sum += criterion(model(x), y).item()
        for x, y in val_loader:
            val_sum += criterion(model(x), y).item()
        print(train_sum / len(train_loader), val_sum / len(train_loader))  # trap: loss-over-the-wrong-count
        print(train_sum / epochs)  # trap: loss-over-the-wrong-count


def right_counts(model, source_loader, target_loader, criterion, epochs):
    whole = 0.0
    for _ in range(epochs):
        for i, (x, y) in enumerate(source_loader):
            if i == 10:
                break
            whole += criterion(model(x), y).item()
        print(whole / i)
    both = 0.0
    for (x, y), (u, v) in zip(source_loader, target_loader):
        both += criterion(model(x), y).item() + criterion(model(u), v).item()
    return whole / epochs, both / len(target_loader)


def from_one(model, loader, criterion):
    total = 0.0
    for i, (x, y) in enumerate(loader, 1):
        total += criterion(model(x), y).item()
    return total / i


def summed_by_the_loss(model, loader):
    criterion = nn.CrossEntropyLoss(reduction="sum")
    total = 0.0
    for x, y in loader:
        total += criterion(model(x), y).item()
    return total / len(loader), total / len(loader.dataset)  # trap: loss-over-the-wrong-count


def elbo(recon, x, mean, log_var):
    close = nn.functional.binary_cross_entropy(recon, x, reduction="sum")
    far = -0.5 * torch.sum(1 + log_var - mean.pow(2) - log_var.exp())
    return close + far


def summed_elsewhere(model, train_loader):
    train_loss = 0.0
    for x, _ in train_loader:
        recon, mean, log_var = model(x)
        loss = elbo(recon, x, mean, log_var)
        train_loss += loss.item()
    return train_loss / len(train_loader.dataset)


def printed(model, loader, criterion, opt):
    running_loss = 0.0
    for i, (x, y) in enumerate(loader):
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
        running_loss += loss.item()
        if i % 100 == 99:
            print(running_loss / 2000)  # trap: loss-over-the-wrong-count
            print(running_loss / 100)
            running_loss = 0.0


def named_length(model, loader, args, batch_size):
    total = fine = 0.0
    with torch.no_grad():
        for x, y in loader:
            loss = torch.nn.functional.cross_entropy(model(x), y)
            total += loss.item() * args.batch_size  # trap: loss-over-the-wrong-count
            fine += loss.item() * x.size(0)
    n = len(loader.dataset)
    return total / n, fine / n


def rows(n):
    x = torch.randn(n, 4)
    return torch.utils.data.TensorDataset(x, (x[:, 0] > 0).long())


def counted_full(model, batch_size=32):
    loader, correct, total = torch.utils.data.DataLoader(rows(70), batch_size), 0, 0
    for x, y in loader:
        correct += (model(x).argmax(1) == y).sum().item()
        total += batch_size  # trap: loss-over-the-wrong-count
    return correct / total


def counted_even(model, batch_size=35):
    loader, correct, total = torch.utils.data.DataLoader(rows(70), batch_size), 0, 0
    for x, y in loader:
        correct += (model(x).argmax(1) == y).sum().item()
        total += batch_size
    return correct / total


def its_own(model, graph_loader):
    correct, total = 0, 0
    for batch in graph_loader:
        correct += (model(batch).argmax(1) == batch.y).sum().item()
        total += batch.batch_size
    return correct / total
