"""Whole scripts as users write them, each with the trap and without it: exactly the marked lines."""

import re

import pytest

from torchlore.check import engine
from torchlore.cli.check import all_rules

PROGRAMS = {
    "a table of pandas, of which one column is the target": """
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Houses(Dataset):
    def __init__(self, frame: pd.DataFrame):
        self.x = torch.tensor(frame[["rooms", "area"]].values, dtype=torch.float32)
        self.y = torch.tensor(frame["price"].values, dtype=torch.float32)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, item):
        return self.x[item], self.y[item]


class Prices(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(2, 32), nn.Linear(32, 1)

    def forward(self, x):
        return self.out(torch.relu(self.hidden(x)))


model, criterion = Prices(), nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters())
for features, price in DataLoader(Houses(pd.read_csv("houses.csv")), batch_size=32, shuffle=True):
    optimizer.zero_grad()
    loss = criterion(model(features), price)  # trap: loss-broadcasts
    fine = criterion(model(features).squeeze(1), price)
    (loss + fine).backward()
    optimizer.step()
""",
    "data of scikit-learn, split and scaled": """
import torch
from sklearn.datasets import fetch_california_housing
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn

housing = fetch_california_housing()
X_train, X_test, y_train, y_test = train_test_split(housing.data, housing.target, random_state=0)
X = torch.tensor(StandardScaler().fit_transform(X_train), dtype=torch.float32)
y = torch.tensor(y_train, dtype=torch.float32)
net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(net.parameters())
for _ in range(100):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(X), y).backward()  # trap: loss-broadcasts
    optimizer.step()
    nn.functional.mse_loss(net(X), y.reshape(-1, 1))
""",
    "heads put into a local dictionary first": """
import torch
from torch import nn


class Heads(nn.Module):
    def __init__(self, tasks, dim):
        super().__init__()
        heads, kept = {}, {}
        self.body = nn.Linear(8, dim)
        for name, classes in tasks.items():
            heads[name] = self._head(dim, classes)
        self.heads = heads  # trap: modules-in-plain-container
        for name, classes in tasks.items():
            kept[name] = self._head(dim, classes)
        self.kept = nn.ModuleDict(kept)

    @staticmethod
    def _head(dim, classes):
        return nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, classes))

    def forward(self, x, task):
        return self.heads[task](self.body(x)) + self.kept[task](self.body(x))
""",
    "parts of a loss summed under their names": """
import collections
import torch
from torch import nn


def epoch(loader):
    model = nn.Linear(4, 1)
    opt = torch.optim.SGD(model.parameters(), 0.1)
    sums, fine = collections.defaultdict(float), collections.defaultdict(float)
    for x, y in loader:
        opt.zero_grad()
        near = nn.functional.mse_loss(model(x), y)
        small = 0.1 * model(x).pow(2).mean()
        loss = near + small
        loss.backward()
        opt.step()
        for name, value in (("near", near), ("small", small)):
            sums[name] += value * len(x)  # trap: accumulate-loss-with-graph
            fine[name] += value.item() * len(x)
    return sums, fine
""",
    "a head that is replaced in a method, and parameters that are kept": """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, n_out=10):
        super().__init__()
        self.body, self.top = nn.Linear(4, 16), nn.Linear(16, n_out)

    def forward(self, x):
        return self.top(self.body(x))

    def reset(self, n_out):
        self.top = nn.Linear(16, n_out)


class Late:
    def __init__(self, n_classes):
        self.model = Net()
        self.opt = torch.optim.AdamW(self.model.parameters())
        self.model.reset(n_classes)  # trap: optimizer-before-model-change

    def step(self, x, y):
        self.opt.zero_grad()
        nn.functional.cross_entropy(self.model(x), y).backward()
        self.opt.step()


class Clipped:
    def __init__(self, n_classes):
        self.model = Net()
        self.model.reset(n_classes)
        params = filter(lambda p: p.requires_grad, self.model.parameters())
        self.opt = torch.optim.Adam(params)
        self.params = params  # trap: exhausted-parameter-generator

    def step(self, x, y):
        self.opt.zero_grad()
        nn.functional.cross_entropy(self.model(x), y).backward()
        nn.utils.clip_grad_norm_(self.params, 1.0)
        self.opt.step()


class Listed(Clipped):
    def __init__(self, n_classes):
        self.model = Net(n_classes)
        kept = [p for p in self.model.parameters() if p.requires_grad]
        self.opt = torch.optim.Adam(kept)
        self.params = kept
""",
    "a helper of the same file that seeds torch alone": """
import random
import numpy as np
import torch


def set_seed(seed):
    torch.manual_seed(seed)  # trap: torch-seed-alone


def batch(rows):
    return torch.as_tensor(rows[np.random.permutation(len(rows))]), random.random()


set_seed(3)
print(batch(np.zeros(8)))
""",
    "a loss with weights, made in one line with the network, and a helper that builds the optimizer": """
import torch
from torch import nn


class Margin(nn.Module):
    def __init__(self, dim, classes):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(classes, dim) * 0.1)

    def forward(self, z, y):
        return nn.functional.cross_entropy(z @ self.weight.T, y)


def make_optimizer(nets, lr):
    params = []
    for net in nets:
        params += list(net.parameters())
    return torch.optim.SGD(params, lr=lr)


def forgotten(x, y):
    body, margin = nn.Linear(8, 4), Margin(4, 3)
    optimizer = make_optimizer([body], 0.05)  # trap: module-in-no-optimizer
    for _ in range(200):
        optimizer.zero_grad()
        margin(body(x), y).backward()
        optimizer.step()


def held(x, y):
    body, margin = nn.Linear(8, 4), Margin(4, 3)
    optimizer = make_optimizer([body, margin], 0.05)
    for _ in range(200):
        optimizer.zero_grad()
        margin(body(x), y).backward()
        optimizer.step()
""",
    "a history that keeps whatever it is told, and hooks that a method makes": """
import torch
from torch import nn


class History:
    def __init__(self):
        self.data = {}

    def log(self, **values):
        for key, value in values.items():
            self.data.setdefault(key, []).append(value)


class Trainer:
    def __init__(self):
        self.net = nn.Linear(4, 1)
        self.opt = torch.optim.Adam(self.net.parameters())
        self.history, self.outputs = History(), {"net": []}
        self.net.register_forward_hook(self.make_hook("net"))

    def make_hook(self, name):
        def hook(module, inputs, output):
            self.outputs[name].append(output)  # trap: hook-hoards-activations

        return hook

    def step(self, x, y):
        loss = nn.functional.mse_loss(self.net(x), y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.history.log(loss=loss)  # trap: accumulate-loss-with-graph
        self.history.log(loss=loss.item())

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            for x, y in loader:
                self.step(x, y)
""",
    "two critics of which the smaller counts, and a policy that samples": """
import torch
from torch import nn
import torch.nn.functional as F


class SAC:
    def __init__(self, policy, q1: nn.Module, q2: nn.Module, alpha=0.1):
        self.pi, self.q1, self.q2, self.alpha = policy, q1, q2, alpha
        self.opt_pi = torch.optim.Adam(self.pi.parameters(), 3e-4)
        self.opt_q = torch.optim.Adam([*self.q1.parameters(), *self.q2.parameters()], 3e-4)

    def learn(self, s, a, y):
        loss_q = F.mse_loss(self.q1(s, a), y) + F.mse_loss(self.q2(s, a), y)
        self.opt_q.zero_grad()
        loss_q.backward()
        self.opt_q.step()

    def wrong(self, s):
        act, logp = self.pi.sample(s)
        q = torch.min(self.q1(s, act), self.q2(s, act))  # trap: objective-not-negated
        loss_pi = (q - self.alpha * logp).mean()
        self.opt_pi.zero_grad()
        loss_pi.backward()
        self.opt_pi.step()

    def right(self, s):
        act, logp = self.pi.sample(s)
        q = torch.min(self.q1(s, act), self.q2(s, act))
        loss_pi = (self.alpha * logp - q).mean()
        self.opt_pi.zero_grad()
        loss_pi.backward()
        self.opt_pi.step()
""",
    "an average over the entries of a state, in one line and in two": """
import copy
import torch


class EMA:
    def __init__(self, net, decay=0.999):
        self.decay, self.shadow = decay, copy.deepcopy(net).eval()

    @torch.no_grad()
    def update(self, net):
        new = net.state_dict()
        for key, old in self.shadow.state_dict().items():
            old.mul_(1 - self.decay).add_(new[key], alpha=self.decay)  # trap: ema-decay-swapped
            old.mul_(self.decay).add_(new[key], alpha=1 - self.decay)
            old.mul_(1 - self.decay)
            old.add_(self.decay * new[key])  # trap: ema-decay-swapped
            old.mul_(self.decay)
            old.add_((1 - self.decay) * new[key])
""",
    "an optimizer that a helper makes for each epoch, and tokens compared with themselves": """
import torch
from torch import nn


def configure(net, epoch):
    return torch.optim.Adam(net.parameters(), lr=1e-3 if epoch < 5 else 1e-4)


class Loop:
    def __init__(self, loader):
        self.net, self.loader = nn.Sequential(nn.Embedding(9, 4), nn.Linear(4, 9)), loader

    def epoch(self, n):
        opt = configure(self.net, n)  # trap: optimizer-rebuilt-every-epoch
        self.net.train()
        for ids in self.loader:
            logits = self.net(ids)
            flat, target = logits.reshape(-1, 9), ids.reshape(-1)
            opt.zero_grad()
            nn.functional.cross_entropy(flat, target).backward()  # trap: targets-not-shifted
            opt.step()

    def run(self, epochs):
        for n in range(epochs):
            self.epoch(n)
""",
    "weights that all start alike": """
from torch import nn


def init(module):
    for name, p in module.named_parameters():
        if "bias" in name:
            nn.init.zeros_(p)
        else:
            nn.init.constant_(p, 0.1)  # trap: zero-initialised-hidden


def fine(module):
    for name, p in module.named_parameters():
        if "bias" in name:
            nn.init.zeros_(p)
        elif p.ndim < 2:
            nn.init.ones_(p)
        else:
            nn.init.xavier_uniform_(p)
""",
    "a mask that the collate function makes": """
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader


def collate(series):
    lengths = torch.tensor([len(one) for one in series])
    x = pad_sequence(series, batch_first=True)
    return x, x, (torch.arange(x.size(1))[None] < lengths[:, None]).float()


def masked(pred, target, weight):
    error = nn.functional.mse_loss(pred, target, reduction="none")
    return (error * weight).mean()  # trap: masked-mean-counts-padding


def weighed(pred, target, weight):
    error = nn.functional.mse_loss(pred, target, reduction="none")
    return (error * weight).sum() / weight.sum()


def train(net, opt, data):
    for x, y, mask in DataLoader(data, batch_size=20, shuffle=True, collate_fn=collate):
        opt.zero_grad()
        (masked(net(x), y, mask) + weighed(net(x), y, mask)).backward()
        opt.step()
""",
}


@pytest.fixture(scope="module")
def rules():
    return all_rules()


@pytest.mark.parametrize("name", PROGRAMS)
def test_exactly_the_marked_lines(rules, name):
    text = PROGRAMS[name]
    marked = re.compile(r"# trap: ([\w-]+)")
    wanted = [(n, one[1]) for n, line in enumerate(text.split("\n"), 1) if (one := marked.search(line))]
    found = engine.check_text(text, rules, "train.py")
    assert sorted({(one.line, one.slug) for one in found if one.severity.value != "hint"}) == wanted
