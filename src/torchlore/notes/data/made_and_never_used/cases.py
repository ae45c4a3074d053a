import torch
from torch import nn
from torch.utils.data import DataLoader, RandomSampler, SubsetRandomSampler
from torchvision import datasets, transforms

train_tf = transforms.Compose([transforms.RandomHorizontalFlip(), transforms.ToTensor()])  # trap: made-and-never-used
test_tf = transforms.Compose([transforms.ToTensor()])
train_set = datasets.CIFAR10("data", train=True, transform=test_tf)
test_set = datasets.CIFAR10("data", train=False, transform=test_tf)


class EarlyStopping:
    def __init__(self, patience):
        self.patience, self.best, self.bad = patience, None, 0

    def __call__(self, value):
        better = self.best is None or value < self.best
        self.best, self.bad = (value, 0) if better else (self.best, self.bad + 1)
        return self.bad > self.patience


def fit(model, loader, validate, optimizer, epochs):
    stopper = EarlyStopping(5)  # trap: made-and-never-used
    class_weights = torch.bincount(torch.tensor(train_set.targets)).float().reciprocal()  # trap: made-and-never-used
    criterion = nn.CrossEntropyLoss()
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
        print(validate(model))


def smoothed(model, loader, optimizer):
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)  # trap: made-and-never-used
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


def right(model, optimizer, epochs, validate):
    sampler = RandomSampler(train_set)
    stop = EarlyStopping(3)
    half = SubsetRandomSampler(range(100))
    # loader = DataLoader(train_set, sampler=half)
    loader = DataLoader(train_set, sampler=sampler, batch_size=8)
    weights = torch.tensor([1.0, 2.0])
    criterion = nn.CrossEntropyLoss(weight=weights.to("cpu"))
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
        if stop(validate(model)):
            break
