import torch
from torch.utils.data import DataLoader, Subset, random_split
from torchvision import datasets


def wrong(data, indices):
    part = Subset(data, indices)
    a = DataLoader(part.dataset, batch_size=4, shuffle=True)  # trap: subset-unwrapped
    train, val = torch.utils.data.random_split(data, [0.8, 0.2])
    b = DataLoader(dataset=val.dataset, batch_size=4)  # trap: subset-unwrapped
    first, *rest = random_split(data, [10, 20, 30])
    c = DataLoader(first.dataset, shuffle=True)  # trap: subset-unwrapped
    return a, b, c, rest


def clean(data, loader, wrapper):
    train, val = random_split(data, [0.8, 0.2])
    a = DataLoader(train, shuffle=True)
    b = DataLoader(loader.dataset, batch_size=1)
    c = DataLoader(wrapper.dataset, shuffle=True)
    size = len(train.dataset)
    whole = datasets.MNIST("data")
    d = DataLoader(whole, shuffle=True)
    return a, b, c, d, size, val
