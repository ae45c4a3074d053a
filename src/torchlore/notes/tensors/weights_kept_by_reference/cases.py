"""Other spellings of weights-kept-by-reference, and code that only looks like it."""
import copy

import torch
from torch import nn


def ewc(model: nn.Module, optimizer, loader, penalty):
    star = {n: p.detach() for n, p in model.named_parameters()}  # trap: weights-kept-by-reference
    for x in loader:
        loss = model(x).mean()
        for n, p in model.named_parameters():
            loss = loss + penalty * ((p - star[n]) ** 2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def moved(optimizer):
    layer = nn.Linear(2, 2)
    start = layer.weight.data  # trap: weights-kept-by-reference
    old = layer.bias.detach().cpu()  # trap: weights-kept-by-reference
    layer(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    return torch.equal(start, layer.weight), (layer.bias - old).abs().max()


def fedprox(model: nn.Module, optimizer, loader, mu):
    anchor = list(model.parameters())  # trap: weights-kept-by-reference
    for x in loader:
        optimizer.zero_grad()
        model(x).mean().backward()
        for w, w_t in zip(model.parameters(), anchor):
            w.grad.data += mu * (w.data - w_t.data)
        optimizer.step()


# clean
def ema(model: nn.Module, teacher: nn.Module, optimizer):
    live = list(model.parameters())
    optimizer.step()
    for slow, fast in zip(teacher.parameters(), live):
        slow.data.lerp_(fast.data, 0.01)


def fine(model: nn.Module, optimizer):
    a = [p.detach().clone() for p in model.parameters()]
    b = {n: p.data.clone() for n, p in model.named_parameters()}
    c = copy.deepcopy(model.state_dict())
    d = [p for p in model.parameters()]
    e = [p.data for p in model.parameters() if p.requires_grad]
    optimizer.step()
    norm = torch.stack([p.norm() for p in d]).norm()
    return [(p - q).norm() for p, q in zip(model.parameters(), a)], b, c, norm, len(e)


rows = list()  # an empty list made by its name, as old code does


def test_it_starts_at_zero(layer: nn.Linear):
    start = layer.bias.data
    assert torch.allclose(start, torch.zeros_like(start))


def test_it_moves(optimizer):
    layer = nn.Linear(2, 2)
    before = layer.weight.detach().clone()
    layer(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    after = layer.weight.detach()
    print(before.shape)
    assert not torch.equal(before, after)


def stepped_elsewhere(optimizer):
    optimizer.step()


def fedprox(net: nn.Module, server: nn.Module, loader, mu):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    anchor = list(server.to("cpu").parameters())
    for x in loader:
        loss = net(x).mean()
        for i, p in enumerate(net.parameters()):
            loss = loss + mu / 2 * (p - anchor[i]).norm() ** 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def own_anchor(net: nn.Module, loader, mu):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    anchor = list(net.parameters())  # trap: weights-kept-by-reference
    for x in loader:
        loss = net(x).mean()
        for i, p in enumerate(net.parameters()):
            loss = loss + mu / 2 * (p - anchor[i]).norm() ** 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Shadow:
    def __init__(self, model):
        self.model, self.kept, self.aside = model, {}, {}
        for name, weight in model.named_parameters():
            self.kept[name] = weight.data.clone()

    def follow(self):
        for name, weight in self.model.named_parameters():
            self.kept[name].mul_(0.99).add_(weight.data, alpha=0.01)

    def swap_in(self):
        for name, weight in self.model.named_parameters():
            self.aside[name] = weight.data  # trap: weights-kept-by-reference
            weight.data.copy_(self.kept[name])

    def put_in(self):
        for name, weight in self.model.named_parameters():
            self.aside[name] = weight.data
            weight.data = self.kept[name]


def table(model, other):
    found = {}
    for name, weight in other.named_parameters():
        found[name] = weight.data
    for name, weight in model.named_parameters():
        found[name].mul_(0.9).add_(weight.data, alpha=0.1)


class Consolidation:
    def __init__(self, net):
        self.net, self.anchor = net, {}
        self.params = {n: p for n, p in net.named_parameters() if p.requires_grad}
        for n, p in self.params.items():
            self.anchor[n] = p.data  # trap: weights-kept-by-reference

    def penalty(self, net):
        return sum(((p - self.anchor[n]) ** 2).sum() for n, p in net.named_parameters())

    def by_hand(self):
        total = 0
        for n, p in self.net.named_parameters():
            total += ((p - self.anchor[n]) ** 2).sum()
        return total


class Kept:
    def __init__(self, net):
        self.net, self.anchor = net, {}
        for n, p in net.named_parameters():
            self.anchor[n] = p.detach().clone()

    def by_hand(self):
        return [p - self.anchor[n] for n, p in self.net.named_parameters()]


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.out = nn.Embedding(8, 4), nn.Linear(4, 8, bias=False)
        self.out.weight = self.words.weight


def moved():
    model = Tied()
    first = model.words.weight.detach().clone()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.step()
    return (model.words.weight - first).norm()
