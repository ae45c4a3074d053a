import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

net, other = nn.Linear(8, 8), nn.Linear(8, 8)
optimizer = torch.optim.Adam([*net.parameters(), *other.parameters()])


@torch.no_grad()
def shape(field):  # trap: loss-term-without-gradient
    return field.diff(dim=1).pow(2).mean()


def colour(fake, real):
    one = np.cbrt(fake.detach().numpy())  # trap: loss-term-without-gradient
    two = np.cbrt(real.numpy())
    return torch.tensor(((one - two) ** 2).mean())


class Hierarchy:
    def agree(self, first, second):
        coarse = torch.argmax(first, dim=1)  # trap: loss-term-without-gradient
        return (coarse != second.argmax(1)).float().mean()

    def __call__(self, first, second, y):
        return F.cross_entropy(first, y) + 0.5 * self.agree(first, second)


def step(x, real, beta=0.1):
    out = net(x)
    loss = F.mse_loss(out, real) + beta * shape(out) + colour(out, real)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def heads(x, boxes, y):
    out = net(x)
    parts = [F.l1_loss(out, box) for box in boxes]
    loss = F.cross_entropy(out, y) + torch.tensor(parts).mean()  # trap: loss-term-without-gradient
    loss.backward()


def levels(x, y):
    loss = Hierarchy()(net(x), other(x), y)
    loss.backward()


def matched(x, real):
    fake = net(x)
    seen = other(fake.detach())
    distance = F.l1_loss(seen.detach(), other(real).detach())  # trap: loss-term-without-gradient
    loss = F.softplus(-other(fake)).mean() + 10 * distance
    loss.backward()


def straight_through(x):  # the value of one, the gradient of the other: wanted
    soft = net(x).mean()
    hard = other(x).mean()
    loss = soft - soft.detach() + hard.detach()
    loss.backward()


def balanced(x, y):  # a weight made of numbers, on a term that has its graph
    first, second = F.mse_loss(net(x), y), F.mse_loss(other(x), y)
    loss = first + first.item() / second.item() * second
    loss.backward()


def sometimes(x, y, flag):
    out = net(x)
    extra = out.pow(2).mean() if flag else torch.zeros(())
    loss = F.mse_loss(out, y) + extra + torch.tensor(0.0)
    loss.backward()


def hard_forward_soft_backward(x, y):
    soft = F.softmax(net(x), dim=1)
    hard = F.one_hot(soft.argmax(1), 3)
    chosen = Variable(hard - soft.data) + soft
    loss = F.mse_loss(other(chosen), y) + soft.pow(2).mean()
    loss.backward()


class CountedOverlap(nn.Module):
    def __init__(self):
        super().__init__()
        self.bce = nn.BCEWithLogitsLoss()

    def forward(self, logits, mask):
        hard = (torch.sigmoid(logits) > 0.5).float()  # trap: loss-term-without-gradient
        overlap = 2 * (hard * mask).sum() / (hard.sum() + mask.sum())
        return self.bce(logits, mask) + (1 - overlap)


def counted(x):
    loss = CountedOverlap()(net(x), torch.ones(4, 8))
    loss.backward()


def weighed_by_a_count(x, y):
    out = net(x)
    right = (out > 0).float()
    loss = (F.mse_loss(out, y, reduction="none") * right).mean() + F.l1_loss(out, y)
    loss.backward()


class Dice(nn.Module):
    def forward(self, made, mask):
        p, t = made.detach().numpy().reshape(-1), mask.numpy().reshape(-1)  # trap: loss-term-without-gradient
        return torch.tensor(1 - 2 * np.sum(p * t) / (p.sum() + t.sum()))


def segmented(x, mask):
    dice = Dice()
    out = net(x).sigmoid()
    loss = F.binary_cross_entropy(out, mask) + 0.5 * dice(out, mask)
    loss.backward()


def judged(x, real, weight=0.1):
    fake = net(x)
    with torch.no_grad():
        verdict = -other(fake).mean()  # trap: loss-term-without-gradient
    loss = F.l1_loss(fake, real) + weight * verdict
    loss.backward()


def balanced_quietly(x, real):  # a weight without gradient, on a term that has its graph
    fake = net(x)
    first, second = F.l1_loss(fake, real), -other(fake).mean()
    with torch.no_grad():
        scale = first / second.abs()
    loss = first + scale * second
    loss.backward()


def chunks(batches):
    state, total = torch.zeros(1, 8), 0
    for i, (x, y) in enumerate(batches):
        state = net(x + state)
        total = total + F.mse_loss(state, y)
        if i % 4 == 3:
            total.backward()
            optimizer.step()
            optimizer.zero_grad()
            total, state = 0, state.detach()


def hard_dice(pred, target):
    pred = torch.sigmoid(pred)
    pred = (pred > 0.5).float()  # trap: loss-term-without-gradient
    return 2 * (pred * target).sum() / (pred.sum() + target.sum())


def soft_dice(pred, target):
    pred = torch.sigmoid(pred)
    hits = (pred * target).sum()
    pred = (pred > 0.5).float()
    return 2 * hits / (pred.sum() + target.sum())


def with_dice(x, y):
    logits = net(x)
    loss = F.binary_cross_entropy_with_logits(logits, y) + (1 - hard_dice(logits, y)) + (1 - soft_dice(logits, y))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
