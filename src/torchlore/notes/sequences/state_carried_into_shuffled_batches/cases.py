import torch
from torch import nn
from torch.utils.data import DataLoader


class Kept(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(3, 8, batch_first=True)
        self.state = None

    def forward(self, x):
        if self.state is None or self.state.size(1) != x.size(0):
            self.state = torch.zeros(1, x.size(0), 8)
        out, self.state = self.gru(x, self.state.detach())  # trap: state-carried-into-shuffled-batches
        return out

    def step(self, x):
        return self.gru(x)


class Direct(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(3, 8, batch_first=True)
        self.state = None

    def forward(self, x):
        out, self.state = self.gru(x, self.state)  # trap: state-carried-into-shuffled-batches
        self.detached = True
        return out


class Reset(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(3, 8, batch_first=True)
        self.memory = None

    def clear(self):
        self.memory = None

    def forward(self, x):
        out, self.memory = self.gru(x, self.memory)
        return out


class Fresh(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(3, 8, batch_first=True)

    def forward(self, x):
        self.last = torch.zeros(1, x.size(0), 8)
        out, self.last = self.gru(x, self.last)
        return out


def train(data):
    net = Reset()
    for x, _ in DataLoader(data, batch_size=4, shuffle=True):
        net.clear()
        net(x)


def carried(data):
    rnn = nn.LSTM(3, 8, batch_first=True)
    state = None
    for x, _ in DataLoader(data, batch_size=8, shuffle=True):
        out, state = rnn(x, state)  # trap: state-carried-into-shuffled-batches
        state = tuple(part.detach() for part in state)
        print(out.mean())


def begun_anew(data):
    rnn = nn.LSTM(3, 8, batch_first=True)
    for x, _ in DataLoader(data, batch_size=8, shuffle=True):
        state = (torch.zeros(1, len(x), 8), torch.zeros(1, len(x), 8))
        for part in x.split(5, dim=1):
            out, state = rnn(part, state)
            print(out.mean())


class Reset(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.hidden = nn.LSTM(3, 8, batch_first=True), None

    def start(self):
        self.hidden = None

    def forward(self, x):
        out, (h, c) = self.lstm(x, self.hidden)
        self.hidden = (h.detach(), c.detach())  # trap: state-carried-into-shuffled-batches
        return out


def once_an_epoch(loader, opt, epochs):
    net = Reset()
    for _ in range(epochs):
        net.start()
        for x, y in loader:
            opt.zero_grad()
            (net(x) - y).square().mean().backward()
            opt.step()
