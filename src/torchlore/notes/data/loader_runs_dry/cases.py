import itertools

import torch
from torch import nn


def batches_of(x, size):
    for start in range(0, len(x), size):
        yield x[start : start + size]


def endless(x):
    while True:
        yield x[torch.randperm(len(x))[:8]]


def run(model, x, y, optimizer, epochs=3):
    batches = batches_of(x, 8)  # trap: loader-runs-dry
    pairs = zip(x.split(8), y.split(8), strict=True)  # trap: loader-runs-dry
    for _ in range(epochs):
        for part in batches:
            optimizer.zero_grad()
            model(part).mean().backward()
            optimizer.step()
        for index, (part, wanted) in enumerate(pairs):
            print(index, nn.functional.mse_loss(model(part), wanted).item())


def right(model, x, y, optimizer, epochs=3):
    kept, stream = list(zip(x.split(8), y.split(8), strict=True)), endless(x)
    once, slow = batches_of(x, 8), batches_of(x, 1)
    for part in once:
        model(part).mean().backward()
    for _ in range(epochs):
        for part in batches_of(x, 8):
            model(part).mean().backward()
        for part, _ in kept:
            model(part).mean().backward()
        for part in itertools.islice(stream, 4):
            model(part).mean().backward()
        for part in slow:
            model(part).mean().backward()
            if part.sum() > 0:
                break
        optimizer.step()


class Trainer:
    def __init__(self, model, x, y):
        self.model, self.kept = model, list(x.split(8))
        self.pairs = zip(x.split(8), y.split(8), strict=True)  # trap: loader-runs-dry

    def run(self, optimizer):
        for _ in range(3):
            for part, wanted in self.pairs:
                nn.functional.mse_loss(self.model(part), wanted).backward()
            for part in self.kept:
                self.model(part).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
