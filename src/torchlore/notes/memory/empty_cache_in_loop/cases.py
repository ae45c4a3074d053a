"""Other spellings of empty-cache-in-loop, and code that only looks like it."""
import gc

import torch
from torch import cuda
from torch.utils.data import DataLoader


def train(model, optimizer, loader: DataLoader):
    for x, y in loader:
        optimizer.zero_grad()
        loss = model(x, y)
        loss.backward()
        optimizer.step()
        del loss
        gc.collect()
        cuda.empty_cache()  # trap: empty-cache-in-loop


def evaluate(model, val_loader):
    with torch.no_grad():
        for x in val_loader:
            torch.cuda.empty_cache()  # trap: empty-cache-in-loop
            print(model(x))


def steps(model, batches, optimizer):
    for i, x in enumerate(batches):
        optimizer.zero_grad()
        model(x).backward()
        optimizer.step()
        with torch.no_grad():
            torch.cuda.empty_cache()  # trap: empty-cache-in-loop


# clean
def epochs(model, optimizer, loader: DataLoader):
    for epoch in range(3):
        train(model, optimizer, loader)
        torch.cuda.empty_cache()
    for i, x in enumerate(loader):
        try:
            print(model(x))
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
        if i % 100 == 0:
            torch.cuda.empty_cache()


torch.cuda.empty_cache()


class Learner:
    def step(self, model, x):
        model(x).backward()
        torch.cuda.empty_cache()  # trap: empty-cache-in-loop

    def fit(self, model, loader: DataLoader):
        for x in loader:
            self.step(model, x)
