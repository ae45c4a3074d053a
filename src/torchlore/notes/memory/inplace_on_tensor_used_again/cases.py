"""Other spellings of inplace-on-tensor-used-again, and code that only looks like it."""
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3, padding=1)
        self.relu = nn.ReLU(inplace=True)
        self.drop = nn.Dropout(0.5, True)
        self.act = nn.ReLU()

    def forward(self, x):
        identity = x
        x = self.relu(x)  # trap: inplace-on-tensor-used-again
        return self.conv(x) + identity

    def gate(self, x):
        y = self.drop(x)  # trap: inplace-on-tensor-used-again
        return x * y

    def beside(self, x):
        x = self.conv(x)
        return x + F.leaky_relu(x, 0.1, inplace=True)  # trap: inplace-on-tensor-used-again

    # clean
    def plain(self, x):
        identity = x
        x = self.conv(x)
        x = self.relu(x)
        x = self.conv(x)
        return self.relu(x + identity)

    def other(self, x):
        out = self.relu(x)
        x = self.conv(out)
        return x.view(x.shape[0], -1)

    def looked(self, x):
        out = F.relu(x, inplace=True)
        return out.view(x.size(0), -1)

    def copied(self, x):
        y = self.act(x)
        return x + y


def only_sometimes(x, drop):
    if drop:
        x = F.dropout(x, 0.1, inplace=True)
    return x.sum()


def one_of_three(x, kind):
    if kind == "leaky":
        return F.leaky_relu(x, 0.1, inplace=True)
    elif kind == "elu":
        return F.elu(x, inplace=True)
    return x


class Chosen(nn.Module):
    def __init__(self):
        super().__init__()
        self.relu, self.fake = nn.ReLU(inplace=True), nn.Identity()

    def forward(self, x, fake):
        return self.relu(x) if not fake else self.fake(x)

    def latent(self, x, fake):
        y = self.fake(x) if fake else self.relu(x)  # trap: inplace-on-tensor-used-again
        return x, y


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(
            nn.ReLU(inplace=True),  # trap: inplace-on-tensor-used-again
            nn.Linear(width, width),
            nn.ReLU(inplace=True),
        )
        self.after = nn.Sequential(nn.Linear(width, width), nn.ReLU(inplace=True))

    def forward(self, x):
        return self.body(x) + x

    def fine(self, x):
        return self.after(x) + x
