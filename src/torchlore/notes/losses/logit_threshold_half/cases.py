import torch
import torch.nn as nn
import torch.nn.functional as F

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
other = nn.Linear(4, 1)


def train(x, y):
    return F.binary_cross_entropy_with_logits(model(x), y)


def bad(x, y):
    out = model(x)
    a = out >= 0.5  # trap: logit-threshold-half
    b = torch.round(model(x))  # trap: logit-threshold-half
    c = (out.squeeze(1) > 0.5).int()  # trap: logit-threshold-half
    return a, b, c


def fine(x, y, score):
    out = model(x)
    a = torch.sigmoid(out) > 0.5
    b = out > 0
    c = torch.round(torch.sigmoid(out))
    d = other(x) > 0.5  # a regression
    e = score > 0.5
    f = round(0.5 + len(x))
    return a, b, c, d, e, f


class Clicks(nn.Module):
    def __init__(self):
        super().__init__()
        self.user, self.item = nn.Embedding(9, 4), nn.Embedding(9, 4)

    def forward(self, u, i):
        return (self.user(u) * self.item(i)).sum(1)


class Asked(Clicks):
    def forward(self, u, i):
        scores = super().forward(u, i)
        return scores if self.training else scores.sigmoid()


class Tally:
    def __init__(self):
        self.hits = 0

    def update(self, pred, truth):
        self.hits += ((pred > 0.5) == truth).sum().item()  # trap: logit-threshold-half


def hits(pred, truth):
    return ((pred > 0.5) == truth).sum().item()


def run(u, i, y):
    clicks, asked, tally, loss = Clicks(), Asked(), Tally(), nn.BCEWithLogitsLoss()
    total = loss(clicks(u, i), y) + loss(asked(u, i), y)
    tally.update(clicks(u, i), y)
    return total, hits(asked(u, i), y)
