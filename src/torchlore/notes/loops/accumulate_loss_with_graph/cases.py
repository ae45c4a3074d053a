import torch
from torch import nn


class Meter:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def update(self, value, n=1):
        self.total += value * n
        self.count += n


class Careful:
    def __init__(self):
        self.total = 0.0

    def update(self, value):
        self.total += float(value)


def epoch(model, loader, optimizer, criterion):
    meter, careful, history, running, by_name = Meter(), Careful(), [], 0.0, {"loss": 0.0}
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meter.update(loss, x.size(0))  # trap: accumulate-loss-with-graph
        careful.update(loss)
        history.append(loss)  # trap: accumulate-loss-with-graph
        running = running + loss * x.size(0)  # trap: accumulate-loss-with-graph
        by_name["loss"] += loss  # trap: accumulate-loss-with-graph
        history.append(loss.item())
        running += loss.detach()
    return running / len(loader.dataset), history


def summed_on_purpose(model, parts, y, optimizer):
    for _ in range(10):
        total = 0.0
        for x in parts:
            loss = nn.functional.mse_loss(model(x), y)
            total += loss
        optimizer.zero_grad()
        total.backward()
        optimizer.step()


model = nn.Linear(3, 1)
data = [(torch.randn(4, 3), torch.randn(4, 1))]
epoch(model, data, torch.optim.SGD(model.parameters(), 0.1), nn.MSELoss())
summed_on_purpose(model, [data[0][0]], data[0][1], torch.optim.SGD(model.parameters(), 0.1))


def unknown(network, loader, opt, stats):
    history = []
    for x, y in loader:
        out = network(x)
        mse = nn.functional.mse_loss(out, y)
        loss = mse + 0.1 * nn.functional.l1_loss(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        history.append(loss)  # trap: accumulate-loss-with-graph
        stats["loss"] += loss  # trap: accumulate-loss-with-graph
        loss = loss.item()
        stats["last"] += loss
    return history


class Averager:
    def __init__(self):
        self.sum = 0

    def add(self, v):
        v = v.data.sum()
        self.sum += v


def averaged(network, loader, opt):
    meter = Averager()
    for x, y in loader:
        cost = nn.functional.mse_loss(network(x), y)
        opt.zero_grad()
        cost.backward()
        opt.step()
        meter.add(cost)
    return meter


def in_chunks(network, train_loader, opt):
    for x, y in train_loader:
        opt.zero_grad()
        losses = []
        for a, b in zip(x.chunk(4), y.chunk(4), strict=True):
            loss = nn.functional.mse_loss(network(a), b)
            losses.append(loss)
            loss.backward()
        opt.step()
        print(sum(losses).item())


class Smoothed:
    def __init__(self):
        self.value = 0.0

    def update(self, loss):
        self.value = 0.9 * self.value + 0.1 * loss


class Runner:
    def __init__(self, optimizer):
        self.net = nn.Linear(4, 2)
        self.optimizer = optimizer
        self.memory = []
        self.saved = []

    def act(self, x):
        values = self.net(x)
        self.memory.append({"x": x, "best": values.max()})  # trap: accumulate-loss-with-graph
        self.saved.append(values.log_softmax(1))

    def learn(self):
        loss = -torch.stack(self.saved).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.saved = []
        return float(sum(one["best"] for one in self.memory) / len(self.memory))


def smooth(model, optimizer, batches):
    meter = Smoothed()
    for x, y in batches:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meter.update(loss)  # trap: accumulate-loss-with-graph


def for_some_batches(model, loader, opt, every):
    total, count = 0, 0
    for step, (x, y) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(x), y)
        total += loss / every
        loss.backward()
        if step % every == every - 1:
            opt.step()
            opt.zero_grad()
            print(total.item())
            total, count = 0, 0


def one_for_each(model, real, fake, opt):
    found = []
    for x in [real, fake]:
        opt.zero_grad()
        loss = model(x).mean()
        found.append(loss)
        loss.backward()
        opt.step()
    return found


class Stepwise:
    def __init__(self, model):
        self.model, self.total, self.calm = model, 0.0, 0.0
        self.optimizer = torch.optim.Adam(model.parameters())

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        self.total += loss  # trap: accumulate-loss-with-graph
        self.calm += loss.item()


def by_number(model, loader, optimizer):
    losses = {}
    for i, (x, y) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses[i] = loss  # trap: accumulate-loss-with-graph
    return losses


def second_order(model, tasks, optimizer):
    losses = []
    for x, y in tasks:
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward(retain_graph=True)
        losses.append(loss)
    together = torch.stack(losses).mean()
    together.backward()
    optimizer.step()
