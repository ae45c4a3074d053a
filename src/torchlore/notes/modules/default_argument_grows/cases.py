import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, sizes, extra=[], hooks={}):  # trap: default-argument-grows
        super().__init__()
        for size in sizes:
            extra += [nn.Linear(size, size)]
        hooks["out"] = extra[-1].register_forward_hook(print)
        self.body = nn.Sequential(*extra)


def step(model, x, losses=[]):  # trap: default-argument-grows
    losses.append(model(x).mean().item())
    return losses


def right(sizes, layers=(), more=[], table={}):
    layers = list(layers)
    layers.append(nn.Linear(2, 2))
    more = [*more, nn.ReLU()]
    more.append(nn.ReLU())
    return nn.Sequential(*layers, *more), table.get("x"), torch.zeros(sizes)


def cached(size, cache={}):
    if size not in cache:
        cache[size] = torch.ones(size)
    return cache[size]


def flattened(nested):
    def walk(items, found=[]):
        for item in items:
            found.append(item) if torch.is_tensor(item) else walk(item, found)
        return found

    return walk(nested)


class Memory:
    def __init__(self, limit=100, frames=[]):  # trap: default-argument-grows
        self.limit, self.frames = limit, []
        self.kept = frames

    def add(self, frame):
        self.kept.append(torch.as_tensor(frame))
        self.frames.append(frame)


class Options:
    def __init__(self, names=[], chosen=[]):
        self.names = names
        self.chosen = list(chosen)
        self.chosen.append("loss")

    def has(self, name):
        return name in self.names
