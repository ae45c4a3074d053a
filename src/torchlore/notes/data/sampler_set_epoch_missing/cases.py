import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def train(model, data, criterion, optimizer):
    train_sampler = DistributedSampler(data, shuffle=True)
    train_loader = DataLoader(data, batch_size=4, sampler=train_sampler)
    for epoch in range(10):  # trap: sampler-set-epoch-missing
        for x, y in train_loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()


def one_epoch(model, loader, criterion, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()


def main(model, data, criterion, optimizer):
    loader = DataLoader(data, sampler=DistributedSampler(data))
    for epoch in range(10):  # trap: sampler-set-epoch-missing
        one_epoch(model, loader, criterion, optimizer)


class Trainer:
    def __init__(self, model, data, optimizer):
        self.model, self.optimizer = model, optimizer
        sampler = torch.utils.data.distributed.DistributedSampler(data, seed=3)
        self.loader = DataLoader(data, sampler=sampler)

    def fit(self, criterion):
        for epoch in range(3):  # trap: sampler-set-epoch-missing
            for x, y in self.loader:
                self.optimizer.zero_grad()
                criterion(self.model(x), y).backward()
                self.optimizer.step()


def evaluate(model, data):
    loader = DataLoader(data, sampler=DistributedSampler(data, shuffle=False))
    return [model(x) for x, _ in loader]


def maybe(data, shuffle, options):
    return DistributedSampler(data, shuffle=shuffle), DistributedSampler(data, **options)


def told_elsewhere(model, data, criterion, optimizer, run_epoch):
    sampler = DistributedSampler(data)
    loader = DataLoader(data, sampler=sampler)
    for epoch in range(3):
        run_epoch(loader, sampler=sampler)
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()


def validate(model, data, valset, distributed, criterion):
    val = DistributedSampler(valset) if distributed else None
    other = DistributedSampler(valset)
    return DataLoader(valset, sampler=val), DataLoader(valset, sampler=other)
