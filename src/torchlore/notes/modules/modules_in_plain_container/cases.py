import torch
import torch.nn as nn
from mmengine.model import BaseModule
from torch.nn import Conv2d, Linear, Module


class Block(Module):
    def __init__(self, n):
        super().__init__()
        self.conv = Conv2d(n, n, 3)


class Variants(Module):
    def __init__(self, sizes, teacher):
        super().__init__()
        self.literal = [Linear(2, 2), nn.ReLU(), Linear(2, 2)]  # trap: modules-in-plain-container
        self.comprehension = [Block(n) for n in sizes]  # trap: modules-in-plain-container
        self.by_name = {"a": Linear(2, 2), "b": Block(3)}  # trap: modules-in-plain-container
        self.mapped = {str(n): Block(n) for n in sizes}  # trap: modules-in-plain-container
        self.filled = {}  # trap: modules-in-plain-container
        for n in sizes:
            self.filled[n] = nn.Sequential(Linear(n, n), nn.ReLU())
        self.copies = [Linear(2, 2)] * 3  # trap: modules-in-plain-container  # trap: shared-module-by-list-multiply
        self.fine = nn.ModuleList([Block(n) for n in sizes])
        self.activations = [nn.ReLU(), nn.GELU()]
        self.hidden_on_purpose = [teacher]
        self.sizes = [1, 2, 3]
        self.losses = []
        self.stages = []
        for i, n in enumerate(sizes):
            stage = Block(n)
            self.add_module(f"stage{i}", stage)
            self.stages.append(stage)
        self.heads = [Block(n) for n in sizes]
        for i, head in enumerate(self.heads):
            self.add_module(f"head{i}", head)
        self.later = [Block(n) for n in sizes]
        self.later = nn.ModuleList(self.later)
        self.chain = [Linear(2, 2), Linear(2, 2)]
        self.net = nn.Sequential(*self.chain)


class NoModule:
    def __init__(self):
        self.models = [Linear(2, 2), Linear(2, 2)]


class Choice(Module):
    def __init__(self, name, kind):
        super().__init__()
        self.known = {"small": Linear(2, 2), "large": Block(3)}
        self.backbone = self.pick(name)
        self.heads = {"one": Linear(2, 2), "two": Linear(2, 4)}
        self.head = self.heads[kind]

    def pick(self, name):
        model = self.known[name]
        return model


class Prompts(Module):
    def __init__(self, n, width):
        super().__init__()
        self.prompts = [nn.Parameter(torch.randn(width)) for _ in range(n)]  # trap: modules-in-plain-container
        self.right = nn.ParameterList([nn.Parameter(torch.randn(width)) for _ in range(n)])
        self.scale = nn.Parameter(torch.ones(1))
        self.named = [self.scale]


class Built(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.blocks = self._build(sizes)  # trap: modules-in-plain-container
        self.registered = nn.ModuleList(self._build(sizes))
        self.whole = nn.Sequential(*self._build(sizes))

    def _build(self, sizes):
        blocks = []
        for one, other in zip(sizes, sizes[1:], strict=False):
            blocks.append(nn.Sequential(nn.Linear(one, other), nn.ReLU()))
        return blocks


def make_layers(sizes):
    layers = [nn.Linear(1, sizes[0])]
    for one, other in zip(sizes, sizes[1:], strict=False):
        layers += [nn.Linear(one, other), nn.ReLU()]
    layers.extend([nn.Linear(sizes[-1], 1)])
    return layers


def make_whole(sizes):
    layers = []
    for n in sizes:
        layers += [nn.Linear(n, n)]
    return nn.Sequential(*layers)


class Helped(nn.Module):
    def __init__(self, sizes, p):
        super().__init__()
        self.body = make_layers(sizes)  # trap: modules-in-plain-container
        self.whole = make_whole(sizes)
        self.grown = []  # trap: modules-in-plain-container
        self.grown += [nn.Linear(2, 2)]
        self.drops = [nn.Dropout(0.5) for _ in range(5)]  # trap: modules-in-plain-container
        self.pools = [nn.MaxPool2d(2), nn.AvgPool2d(2)]


class Named(nn.Module):
    def __init__(self, sizes, teacher):
        super().__init__()
        self.heads = [nn.Linear(n, 1) for n in sizes]
        for head in self.heads:
            self.add_module("head", head)  # trap: modules-in-plain-container
        self._teacher = [teacher.eval().requires_grad_(False)]
        for i, n in enumerate(sizes):
            if i == 0:
                self.add_module("first", nn.Linear(n, n))
            block = nn.Sequential()
            block.add_module("linear", nn.Linear(n, n))
            self.add_module(f"block{i}", block)


class Spelled(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.updated = dict()  # trap: modules-in-plain-container
        self.updated.update({"a": nn.Linear(n, n), "b": nn.Linear(n, n)})
        self.frozen = tuple(nn.Linear(n, n) for _ in range(3))  # trap: modules-in-plain-container
        self.grid = [[nn.Linear(n, n) for _ in range(2)] for _ in range(2)]  # trap: modules-in-plain-container
        self.one, self.other = [nn.Linear(n, n)], nn.Linear(n, n)  # trap: modules-in-plain-container
        layers = []
        for _ in range(3):
            layers.append(nn.Linear(n, n))
            layers.append(nn.ReLU())
        self.collected = layers  # trap: modules-in-plain-container
        blocks = [nn.Linear(n, n)]
        blocks.append(nn.ReLU())
        self.body = nn.Sequential(*blocks)
        self.parts = blocks


class Borrows(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(n, n), nn.ReLU())
        self.steps = [nn.Sequential(part) for part in self.features]


class AsksEach(nn.Module):
    def __init__(self, n, kinds):
        super().__init__()
        self.encoder = {}
        for kind in kinds:
            self.encoder[kind] = nn.Linear(n, n)
        wanted = list(self.parameters())
        for kind in kinds:
            wanted += list(self.encoder[kind].parameters())
        self.optimizer = torch.optim.Adam(wanted)


class Stages(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.stages, self.sizes = [], []  # trap: modules-in-plain-container
        for width in widths:
            conv, norm = nn.Conv2d(1, width, 3), nn.BatchNorm2d(width)
            self.stages.append((conv, norm))
            self.sizes.append((width, 3))

    def forward(self, x):
        return [norm(conv(x)) for conv, norm in self.stages]


class Normed(BaseModule):
    def __init__(self, n):
        super().__init__()
        self.linear, self.norm = nn.Linear(n, n), nn.BatchNorm1d(n)

    def __call__(self, x):
        return self.norm(self.linear(x))


class Tower(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.first = Normed(n)

    def forward(self, x):
        return self.first(x)
