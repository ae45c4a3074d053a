"""Whole small scripts about data, states and losses, as users write them: the marked lines are found, and no other."""

import re

import pytest

from torchlore.check import engine
from torchlore.cli.check import all_rules

PROGRAMS = """\
=== saved-state-not-loaded
import torch
class Late:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters())
    def setup(self):
        self.optimizer = torch.optim.Adam(self.net.parameters())
    def resume(self, path):
        state = torch.load(path, map_location="cpu")
        self.net.load_state_dict(state["net"])
        self.optimizer.load_state_dict(state["optimizer"])
    def fit(self, x, y):
        self.optimizer = torch.optim.Adam(self.net.parameters())  # trap: saved-state-not-loaded
        for _ in range(10):
            self.optimizer.zero_grad()
            (self.net(x) - y).pow(2).mean().backward()
            self.optimizer.step()
def go_on(net, path, x, y):
    late = Late(net)
    late.setup()
    late.resume(path)
    late.fit(x, y)
=== saved-state-not-loaded, clean
import torch
class Late:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters())
    def setup(self):
        self.optimizer = torch.optim.Adam(self.net.parameters())
    def resume(self, path):
        state = torch.load(path, map_location="cpu")
        self.net.load_state_dict(state["net"])
        self.optimizer.load_state_dict(state["optimizer"])
    def fit(self, x, y):
        self.optimizer = torch.optim.Adam(self.net.parameters())
        for _ in range(10):
            self.optimizer.zero_grad()
            (self.net(x) - y).pow(2).mean().backward()
            self.optimizer.step()
def go_on(net, path, x, y):
    late = Late(net)
    late.fit(x, y)
    late.resume(path)
    print(late.net(x))
=== frozen-batchnorm-still-updates
import torch
from torch import nn
class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU())
    def forward(self, x):
        return self.layers(x)
class Transfer(nn.Module):
    def __init__(self, backbone, n_out):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Linear(32, n_out)
        for p in self.backbone.parameters():
            p.requires_grad = False
    def forward(self, x):
        return self.head(self.backbone(x))
def fit(model, steps):
    opt = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-3)
    model.train()  # trap: frozen-batchnorm-still-updates
    for _ in range(steps):
        x, y = torch.randn(64, 10), torch.randint(0, 2, (64,))
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
backbone = Backbone()
fit(nn.Sequential(backbone, nn.Linear(32, 2)), 10)
model = Transfer(backbone, 2)
fit(model, 100)
=== frozen-batchnorm-still-updates, clean
import torch
from torch import nn
class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU())
    def forward(self, x):
        return self.layers(x)
class Transfer(nn.Module):
    def __init__(self, backbone, n_out):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Linear(32, n_out)
        for p in self.backbone.parameters():
            p.requires_grad = False
    def forward(self, x):
        return self.head(self.backbone(x))
def fit(model, steps):
    opt = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-3)
    model.train()
    if isinstance(model, Transfer):
        model.backbone.eval()
    for _ in range(steps):
        x, y = torch.randn(64, 10), torch.randint(0, 2, (64,))
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
backbone = Backbone()
fit(nn.Sequential(backbone, nn.Linear(32, 2)), 10)
model = Transfer(backbone, 2)
fit(model, 100)
"""


@pytest.fixture(scope="module")
def rules():
    return all_rules()


@pytest.mark.parametrize("program", re.split(r"^=== .*\n", PROGRAMS, flags=re.MULTILINE)[1:])
def test_the_marked_lines_are_found(rules, program):
    marks = re.finditer(r"trap: ([\w-]+)", program)
    wanted = {(program[: one.start()].count("\n") + 1, one[1]) for one in marks}
    found = {(one.line, one.slug) for one in engine.check_text(program, rules, "train.py") if one.severity != "hint"}
    assert found == wanted
