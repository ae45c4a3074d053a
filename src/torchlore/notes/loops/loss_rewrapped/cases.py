import torch
from torch import nn
from torch.autograd import Variable

criterion = nn.CrossEntropyLoss()
model = nn.Linear(8, 3)


def wrapped(inputs, labels):
    loss = criterion(model(inputs), labels)
    loss = Variable(loss, requires_grad=True)  # trap: loss-rewrapped
    loss.backward()


def from_item(inputs, labels):
    loss = criterion(model(inputs), labels)
    again = torch.tensor([loss.item()], requires_grad=True)  # trap: loss-rewrapped
    again.backward()


def plain(inputs, labels):
    loss = criterion(model(inputs), labels)
    loss.backward()


def picture(target):
    image = torch.tensor(target, requires_grad=True)
    (image - 1).pow(2).sum().backward()
    return image.grad


def weighted(inputs, labels):
    weight = torch.tensor(0.5)
    loss = weight * criterion(model(inputs), labels)
    loss.backward()
