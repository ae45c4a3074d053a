import torch
from torch import nn
from torch.utils.data import DataLoader


def looked_at(dataset, net: nn.Module, optimizer, criterion):
    loader = DataLoader(dataset, batch_size=8, shuffle=True)
    images, labels = next(iter(loader))
    print(images.shape, labels.shape)
    for step, (batch, targets) in enumerate(loader):
        optimizer.zero_grad()
        loss = criterion(net(images), labels)  # trap: batch-never-read
        loss.backward()
        optimizer.step()
        print(step)


def right(dataset, net: nn.Module, optimizer, criterion):
    loader = DataLoader(dataset, batch_size=8, shuffle=True)
    images, labels = next(iter(loader))
    print(net(images).shape, labels.shape)
    for images, labels in loader:
        optimizer.zero_grad()
        criterion(net(images), labels).backward()
        optimizer.step()
    for _ in loader:
        net(images)
    for batch in loader:
        x, y = batch
        net(x)
    for batch in loader:
        x = torch.randn(8, 4)
        net(x)
