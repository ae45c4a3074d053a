import torch
import torchvision
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
        self.head = nn.Linear(2, 1)
        self.encoder.requires_grad = False  # trap: requires-grad-on-module
        self.requires_grad = False  # an attribute of its own
        self.head.weight.requires_grad = False
        self.scale = nn.Parameter(torch.ones(1))
        self.scale.require_grad = False  # trap: requires-grad-on-module

    def freeze(self):
        for layer in self.encoder:
            layer.requires_grad = False  # trap: requires-grad-on-module
        for p in self.head.parameters():
            p.requires_grad = False
        self.encoder.requires_grad_(False)


model = torchvision.models.resnet18()
model.requires_grad = False  # trap: requires-grad-on-module
model.fc.weight.requires_grad = True
for p in model.parameters():
    p.requires_grads = False  # trap: requires-grad-on-module
x = torch.zeros(3)
x.requires_grad = True


def unknown(thing, options):
    thing.requires_grad = False
    options.require_grad = False


class Encoding(nn.Module):
    def __init__(self, table, require_grad=False):
        super().__init__()
        self.table = nn.Parameter(table) if require_grad else table
        self.require_grad = require_grad

    def forward(self, x):
        return x @ (self.table if self.require_grad else self.table.to(x.device))


class Thawed(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(4, 4), nn.Linear(4, 2)

    def thaw(self):
        self.body.requires_grad = True
        for weight in self.body.parameters():
            weight.requires_grad = True
        self.head.requires_grad = True  # trap: requires-grad-on-module

    def freeze(self):
        for _, weight in self.head.named_parameters():
            weight.requires_grad_(False)
        self.head.requires_grad = False


def thawed_by_the_grouping(net):
    for name, p in net.named_parameters():
        if "stem" in name:
            p.requires_grad = False
    small, large = [], []
    for name, p in net.named_parameters():
        p.requires_grad = True  # trap: requires-grad-on-module
        (small if p.ndim < 2 else large).append(p)
    return small, large


def head_only(net):
    for p in net.parameters():
        p.requires_grad = False
    for p in net.head.parameters():
        p.requires_grad = True
    return net


def two_phases(net, train):
    for name, p in net.named_parameters():
        if "stem" in name:
            p.requires_grad = False
    train(net)
    for p in net.parameters():
        p.requires_grad = True
    train(net)


class Finder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))
        self.neck = nn.Linear(4, 4)
        self.box_head = nn.Linear(4, 2)


def freeze_named(model, prefixes):
    for name, param in model.named_parameters():
        if any(name.startswith(one) for one in prefixes):
            param.requires_grad = False


def chosen_by_name():
    net, other = Finder(), Finder()
    freeze_named(net, ["backbone.", "fpn."])  # trap: requires-grad-on-module
    for name, p in other.named_parameters():
        if "encoder" in name:  # trap: requires-grad-on-module
            p.requires_grad = False
    for name, p in other.named_parameters():
        if name.startswith(("body.0.", "classifier")) or "neck" in name:
            p.requires_grad = False
    for name, p in other.named_parameters():
        if "head" not in name:
            p.requires_grad_(False)
    return net, other


def chosen_elsewhere(model, words):
    for name, p in model.named_parameters():
        if any(word in name for word in words) or "encoder" in name:
            p.requires_grad = False
