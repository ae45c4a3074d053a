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


def summed(model, train_loader, criterion, opt, epochs):
    running_loss = 0.0  # trap: metric-not-reset
    correct = total = 0  # trap: metric-not-reset
    whole = 0.0
    for epoch in range(epochs):
        for x, y in train_loader:
            opt.zero_grad()
            out = model(x)
            loss = criterion(out, y)
            loss.backward()
            opt.step()
            running_loss += loss.item()
            whole += loss.item()
            correct += (out.argmax(1) == y).sum().item()
            total += y.size(0)
        print(running_loss / len(train_loader))
        print(100 * correct / total)
        print(whole / (len(train_loader) * (epoch + 1)), whole / len(train_loader) / (epoch + 1))


def summed_anew(model, train_loader, criterion, epochs):
    for epoch in range(epochs):
        print(epoch)
        running_loss, correct = 0.0, 0
        total = 0
        for x, y in train_loader:
            running_loss += criterion(model(x), y).item()
            correct += (model(x).argmax(1) == y).sum().item()
            total += y.size(0)
        print(running_loss / len(train_loader), correct / total)


def shown_and_cleared(model, train_loader, criterion, epochs):
    running_loss = 0.0
    for epoch in range(epochs):
        print(epoch)
        for x, y in train_loader:
            running_loss += criterion(model(x), y).item()
        print(running_loss / len(train_loader))
        running_loss = 0.0


class Confusion:
    def __init__(self, n):
        self.n, self.table = n, torch.zeros(n, n)

    def add(self, y, p):
        self.table += torch.bincount(self.n * y + p, minlength=self.n**2).view(self.n, self.n)

    def accuracy(self):
        return self.table.diag().sum() / self.table.sum()

    def reset(self):
        self.table = torch.zeros(self.n, self.n)


@torch.no_grad()
def judged(model, loader, seen):
    model.eval()
    for x, y in loader:
        seen.add(y, model(x).argmax(1))
    return seen.accuracy()  # trap: metric-not-reset


def never_emptied(model, loader, epochs):
    seen = Confusion(3)
    for epoch in range(epochs):
        print(epoch, judged(model, loader, seen))


class Meter:
    def __init__(self):
        self.hits, self.n = 0, 0

    def add(self, hits, n):
        self.hits += hits
        self.n += n


def made_anew(model, loader, epochs):
    for epoch in range(epochs):
        meter = Meter()
        with torch.no_grad():
            for x, y in loader:
                meter.add((model(x).argmax(1) == y).sum().item(), len(y))
        print(epoch, meter.hits / meter.n)


def over_the_whole_run(model, loader, opt, epochs):
    meter = Meter()
    for epoch in range(epochs):
        for x, y in loader:
            out = model(x)
            opt.zero_grad()
            torch.nn.functional.cross_entropy(out, y).backward()
            opt.step()
            meter.add((out.argmax(1) == y).sum().item(), len(y))
        print(epoch, meter.hits / meter.n)


def under_no_grad(model, loader, optimizer, criterion, num_epochs):
    hits, seen = 0, 0  # trap: metric-not-reset
    for i in range(num_epochs):
        model.eval()
        with torch.no_grad():
            for x, y in loader:
                hits += (model(x).argmax(1) == y).sum().item()
                seen += len(y)
        print(i, hits / seen)


def a_fresh_count(model, loader, num_epochs):
    best = 0.0
    for i in range(num_epochs):
        hits, seen = 0, 0
        with torch.no_grad():
            for x, y in loader:
                hits += (model(x).argmax(1) == y).sum().item()
                seen += len(y)
        best = max(best, hits / seen)
    return best


def throughput(model, loader, num_epochs, clock):  # over all epochs on purpose
    images, start = 0, clock()
    for i in range(num_epochs):
        for x, y in loader:
            model(x)
            images += len(x)
        print(i, images / (clock() - start))
