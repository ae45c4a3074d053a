import torch.nn as nn
from torch.nn import Dropout2d


class Bad(nn.Module):
    def forward(self, x):
        x = Dropout2d()(x)  # trap: dropout-created-in-forward
        drop = nn.Dropout(0.1)  # trap: dropout-created-in-forward
        return self.rest(drop(x))

    def rest(self, x):
        return nn.Dropout(0.3)(x + 1)  # trap: dropout-created-in-forward


class Fine(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)
        body = nn.Dropout(0.1)
        self.body = nn.Sequential(nn.Linear(2, 2), body)

    def forward(self, x):
        if self.training:
            x = nn.Dropout(0.5)(x)
        return self.body(self.drop(x))

    def make(self, rate):
        return nn.Sequential(nn.Linear(2, 2), nn.Dropout(rate))


def noise(x):
    return nn.Dropout(0.5)(x)
