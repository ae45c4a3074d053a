import torch
import torch.nn.functional as F
from torch import nn


class Residual(nn.Module):
    def __init__(self, c, first=False):
        super().__init__()
        self.first = first
        self.bn = nn.BatchNorm1d(c)
        self.act = nn.LeakyReLU(0.3)
        self.conv1 = nn.Conv1d(c, c, 3, padding=1)
        self.conv2 = nn.Conv1d(c, c, 3, padding=1)

    def forward(self, x):
        out = x
        if not self.first:
            out = self.act(self.bn(x))  # trap: layer-output-unused
            out = self.conv1(x)
        return x + self.conv2(out)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(100, 16)
        self.place = nn.Embedding(50, 16)
        self.lstm = nn.LSTM(16, 16, batch_first=True)
        self.top = nn.LSTM(16, 16, batch_first=True)
        self.drop = nn.Dropout(0.5)
        self.head = nn.Linear(16, 2)

    def forward(self, x):
        e = self.embed(x)
        p = self.place(torch.arange(x.size(1)))  # trap: layer-output-unused
        out, _ = self.lstm(e)
        deep, state = self.top(out)  # trap: layer-output-unused
        last = out[:, -1]
        dropped = F.dropout(last, 0.5, self.training)  # trap: layer-output-unused
        return self.head(last)


class Fine(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.bn = nn.BatchNorm2d(8)
        self.gate = nn.Linear(8, 8)
        self.aux = nn.Linear(8, 2)
        self.cell = nn.GRU(8, 8, batch_first=True)
        self.head = nn.Linear(8, 2)

    def forward(self, x, steps=3):
        y = self.bn(self.conv(x))
        out = self.gate(y.mean((2, 3)))
        out += y.mean((2, 3))
        _ = self.bn(y)
        state = None
        for _ in range(steps):
            seen, state = self.cell(out[:, None], state)
        if self.training:
            aux = self.aux(out)
        scores = self.head(seen[:, -1])
        return (scores, aux) if self.training else scores


class Tried(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.norm = nn.LayerNorm(4)

    def forward(self, x):
        h = self.body(x)
        n = self.norm(h)
        # h = h + n
        return h


class Outline(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)

    def forward(self, x):
        h = self.body(x)
        raise NotImplementedError
