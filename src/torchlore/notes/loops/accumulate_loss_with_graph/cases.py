import random
from collections import deque

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


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.box = nn.Linear(4, 4), nn.Linear(4, 2)

    def forward(self, x):
        return self.box(torch.relu(self.body(x)))


def parts_of(out, y, z):
    return {"cls": nn.functional.cross_entropy(out, y), "box": nn.functional.mse_loss(out[:, 0], z)}


def by_part(loader):
    net = Head()
    opt = torch.optim.Adam(net.parameters())
    totals, outputs, calm = {"cls": 0.0, "box": 0.0}, [], 0.0
    for x, y, z in loader:
        out = net(x)
        losses = parts_of(out, y, z)
        loss = losses["cls"] + 2 * losses["box"]
        opt.zero_grad()
        loss.backward()
        opt.step()
        for name, value in losses.items():
            totals[name] += value * len(x)  # trap: accumulate-loss-with-graph
        outputs.append(out)  # trap: accumulate-loss-with-graph
        calm += losses["box"].item()
    return totals, torch.cat(outputs), calm


class Trainer:
    def __init__(self):
        self.net, self.mean = Head(), None
        self.opt = torch.optim.Adam(self.net.parameters())

    def step(self, x, y):
        loss = nn.functional.cross_entropy(self.net(x), y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        if self.mean is None:
            self.mean = loss.detach()
        else:
            self.mean = 0.9 * self.mean + 0.1 * loss  # trap: accumulate-loss-with-graph
        return {"loss": loss, "n": len(x)}

    def number(self, x, y):
        loss = nn.functional.cross_entropy(self.net(x), y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()

    def fit(self, loader):
        kept, numbers = [], []
        for x, y in loader:
            kept.append(self.step(x, y))  # trap: accumulate-loss-with-graph
            numbers.append(self.number(x, y))
        return kept, numbers


def some_turns(loader):  # one backward pass for ten turns
    net = Head()
    opt = torch.optim.Adam(net.parameters())
    chunk = []
    for i, (x, y) in enumerate(loader):
        chunk.append(nn.functional.cross_entropy(net(x), y))
        if i % 10 == 9:
            loss = torch.stack(chunk).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            chunk = []


class Memory:
    def __init__(self):
        self.box = deque(maxlen=1000)

    def push(self, *parts):
        self.box.append(parts)

    def draw(self):
        return random.sample(self.box, 8)


def play(states, opt):
    net, memory = Head(), Memory()
    for state in states:
        q = net(state)
        memory.push(state, q.max())  # trap: accumulate-loss-with-graph
        memory.push(state, q.argmax().item())
        loss = torch.stack([net(one).sum() for one, _ in memory.draw()]).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


class Log:
    def __init__(self):
        self.scalars = {"loss": [], "other": []}

    def log(self, **numbers):
        for key, value in numbers.items():
            self.scalars[key].append(value)


def logged(loader):
    net, log = Head(), Log()
    opt = torch.optim.Adam(net.parameters())
    for x, y in loader:
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.log(loss=loss, other=1.0)  # trap: accumulate-loss-with-graph
        log.log(loss=loss.item())
