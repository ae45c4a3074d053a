import torch.nn.functional as F
from torch import nn


class Deep(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv1 = nn.Conv2d(c, c, 3, padding=1)
        self.conv2 = nn.Conv2d(c, c, 3, padding=1)
        nn.init.zeros_(self.conv2.weight)
        self.fc1 = nn.Linear(c, c)
        self.fc2 = nn.Linear(c, 2)
        self.drop1 = nn.Dropout(0.1)
        self.drop2 = nn.Dropout(0.1)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv1(x))  # trap: twin-layer-never-called
        x = self.drop1(self.fc1(x.mean((2, 3))))
        return self.drop1(self.fc1(x))


class Shared(nn.Module):
    def __init__(self, c, deep):
        super().__init__()
        self.deep = deep
        self.tower1 = nn.Linear(c, c)
        self.tower2 = nn.Linear(c, c)
        self.gate1 = nn.Linear(c, c)
        self.gate2 = nn.Linear(c, c)
        self.left1 = nn.Linear(c, c)
        self.left2 = nn.Linear(c, c)

    def forward(self, x, y):
        x, y = self.tower1(x), self.tower1(y)
        x = self.gate1(x) if self.deep else self.gate1(y)
        return self.left1(x), self.other(y)

    def other(self, y):
        return self.left1(y)


def towers(net: Shared, x):
    return net.tower2(x) + net.gate2(x)
