import torch
from torch import nn
from torch.nn import functional as F


class Probe(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder, self.top = encoder, nn.Linear(8, 2)

    def freeze_encoder(self):
        """Keep the features."""
        self.encoder.eval()  # trap: eval-does-not-freeze

    def forward(self, x):
        return self.top(self.encoder(x))


class Cut(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder, self.top, self.frozen = encoder, nn.Linear(8, 2), True

    def train(self, mode=True):
        super().train(mode)
        if self.frozen:
            self.encoder.eval()
        return self

    def forward(self, x):
        with torch.no_grad():
            h = self.encoder(x)
        return self.top(h)


class Norms(nn.Module):
    def __init__(self, encoder, freeze_bn):
        super().__init__()
        self.encoder, self.top, self.freeze_bn = encoder, nn.Linear(8, 2), freeze_bn

    def train(self, mode=True):
        super().train(mode)
        if self.freeze_bn:
            self.encoder.eval()
        return self

    def forward(self, x):
        return self.top(self.encoder(x))


class Chosen(nn.Module):
    def __init__(self, encoder, freeze):
        super().__init__()
        self.encoder, self.top, self.freeze = encoder, nn.Linear(8, 2), freeze

    def train(self, mode=True):
        super().train(mode)
        if self.freeze:
            self.encoder.eval()
        return self

    def forward(self, x):
        return self.top(self.encoder(x))


def fit(net, optimizer, loader):
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward()
        optimizer.step()


def encoder():
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8))


data = [(torch.randn(6, 4), torch.randint(0, 2, (6,)))]
probe = Probe(encoder())
probe.freeze_encoder()
fit(probe, torch.optim.SGD(probe.parameters(), lr=0.1), data)
cut = Cut(encoder())
fit(cut.train(), torch.optim.SGD(cut.parameters(), lr=0.1), data)
norms = Norms(encoder(), freeze_bn=True)
fit(norms.train(), torch.optim.SGD(norms.parameters(), lr=0.1), data)
chosen = Chosen(encoder(), freeze=True)
fit(chosen.train(), torch.optim.SGD(chosen.top.parameters(), lr=0.1), data)
