import torch
from torch import nn


class Tower(nn.Module):
    def __init__(self, tune=False):
        super().__init__()
        self.patch = nn.Conv2d(3, 8, 4)
        self.requires_grad_(tune)

    @torch.no_grad()  # trap: trainable-layer-under-no-grad
    def forward(self, x):
        return self.patch(x)


class Frozen(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(3, 8, 4)
        self.requires_grad_(False)

    @torch.no_grad()
    def forward(self, x):
        return self.patch(x)


class Momentum(nn.Module):
    def __init__(self):
        super().__init__()
        self.online, self.tower = nn.Linear(4, 4), Frozen()
        self.momentum_encoder = nn.Linear(4, 4)
        self.shared = nn.Linear(4, 4)
        for p in self.tower.parameters():
            p.requires_grad = False

    def forward(self, x):
        with torch.no_grad():
            key = self.momentum_encoder(x) + self.shared(x)
        return self.online(x) + self.shared(x), key


class Summed(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.window = Frozen(), nn.Conv2d(1, 1, 3, bias=False)
        self.window.weight = nn.Parameter(torch.ones(1, 1, 3, 3), requires_grad=False)

    def forward(self, x):
        with torch.no_grad():
            where = self.window(x)
        return self.body(x), where


class Towers(nn.Module):
    def __init__(self):
        super().__init__()
        self.tower = nn.Linear(8, 4)
        self.score = nn.Bilinear(4, 4, 1)

    @torch.no_grad()  # trap: trainable-layer-under-no-grad
    def encode(self, x):
        return self.tower(x)

    def forward(self, a, b):
        return self.score(self.encode(a), self.encode(b))


class Sampled(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(8, 8)

    @torch.no_grad()
    def sample(self, x):
        return self.cell(x)

    def forward(self, x):
        return self.cell(self.sample(x))


def rank(loader):
    towers, sampled = Towers(), Sampled()
    opt = torch.optim.Adam(towers.parameters())
    again = torch.optim.Adam(sampled.parameters())
    for a, b, y in loader:
        opt.zero_grad()
        again.zero_grad()
        loss = nn.functional.mse_loss(towers(a, b), y) + sampled(a).mean()
        loss.backward()
        opt.step()
        again.step()
