import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(c, c, 3, padding=1), nn.BatchNorm2d(c)

    def forward(self, x):
        x = self.bn(self.conv(x))
        return F.relu(x + x)  # trap: skip-adds-itself


class Named(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(c, c, 3, padding=1), nn.BatchNorm2d(c)

    def forward(self, x):
        skip = x
        x = self.bn(self.conv(x))
        x = x + skip
        return F.relu(x)


class Doubled(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv2d(c, c, 1)

    def forward(self, x, scale):
        x = x + x
        y = self.conv(x)
        y += y
        return y * scale

    def gain(self, x):
        x = self.conv(x)
        x += x
        return x
