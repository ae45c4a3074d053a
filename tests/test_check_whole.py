"""Whole scripts as users write them, each with the trap and without it: exactly the marked lines."""

import re

import pytest

from torchlore.check import engine

PROGRAMS = {
    "a series, as large as its times": """
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Windows(Dataset):
    def __init__(self, series, size=24):
        self.series, self.size = torch.as_tensor(series, dtype=torch.float32), size

    def __len__(self):
        return len(self.series) - self.size

    def __getitem__(self, i):
        return self.series[i : i + self.size], self.series[i + self.size]


t = np.linspace(0, 80, 1600)
data = Windows(np.sin(t) + 0.1 * np.random.default_rng(0).normal(size=t.shape))
net, mse = nn.Linear(24, 1), nn.MSELoss()
for x, y in DataLoader(data, batch_size=32, shuffle=True):
    mse(net(x), y).backward()  # trap: loss-broadcasts
    mse(net(x).squeeze(-1), y).backward()
""",
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
    "a step that a function makes, the way a known course writes it": """
import torch
from torch import nn


def make_step(net, criterion, optimizer):
    def step(x, y):
        net.train()
        criterion(net(x), y).backward()
        optimizer.step()  # trap: missing-zero-grad

    return step


def make_right_step(net, criterion, optimizer):
    def step(x, y):
        net.train()
        optimizer.zero_grad()
        criterion(net(x), y).backward()
        optimizer.step()

    return step


def main(loader):
    net, criterion = nn.Linear(1, 1), nn.MSELoss()
    wrong = make_step(net, criterion, torch.optim.SGD(net.parameters(), lr=0.1))
    right = make_right_step(net, criterion, torch.optim.SGD(net.parameters(), lr=0.1))
    for epoch in range(20):
        for x, y in loader:
            wrong(x, y)
        for x, y in loader:
            right(x, y)
""",
    "the best weights in a dictionary that is updated": """
import torch
from torch import nn


def run(x, y, evaluate):
    net = nn.Linear(4, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    best, kept = {"acc": 0.0, "weights": None}, {"acc": 0.0, "weights": None}
    for epoch in range(15):
        opt.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
        acc = evaluate(net)
        if acc > best["acc"]:
            best.update(acc=acc, weights=net.state_dict())  # trap: state-dict-alias
            kept.update(acc=acc, weights={k: v.clone() for k, v in net.state_dict().items()})
    net.load_state_dict(best["weights"])
    net.load_state_dict(kept["weights"])
""",
    "groups put into a list, transforms by split, labels with too much": """
import torch
from torch import nn
from torchvision import transforms as T


def groups_of(net, lr):
    groups = []
    for name, child in net.named_children():
        groups.append({"parameters": child.parameters(), "lr": lr})  # trap: optimizer-group-key
    return groups


def optimizers(net, lr):
    right = []
    right.append({"params": net.parameters(), "lr": lr})
    return torch.optim.SGD(groups_of(net, lr), lr=lr), torch.optim.SGD(right, lr=lr)


def pipeline(split, size=160):
    steps = [T.Resize(size + 16)]
    if split == "train":
        steps += [T.RandomResizedCrop(size), T.RandomHorizontalFlip()]
    elif split == "val":
        steps += [T.RandomCrop(size)]  # trap: random-aug-in-eval-transform
    else:
        steps += [T.CenterCrop(size)]
    return T.Compose([*steps, T.ToTensor()])


def labels(y, classes, eps=0.1):
    wrong = torch.full((len(y), classes), eps / classes).scatter_(1, y.unsqueeze(1), 1.0)  # trap: smoothing-adds-too-much
    right = torch.full((len(y), classes), eps / (classes - 1)).scatter_(1, y.unsqueeze(1), 1.0 - eps)
    return wrong, right, torch.full((len(y), classes), 0.0).scatter_(1, y.unsqueeze(1), 1.0)
""",
    "a helper that meets the other ranks": """
import torch
import torch.distributed as dist


def mean_of(value):
    t = torch.tensor([value])
    dist.all_reduce(t)
    return t.item() / dist.get_world_size()


def sum_of(value):
    t = torch.tensor([value])
    dist.all_reduce(t)
    return t.item()


def report(loss, rank):
    total = sum_of(loss)
    if rank == 0:
        print(total, mean_of(loss))  # trap: collective-in-rank-branch
""",
    "nothing wrong: both sides softened, one of them by a method": """
import torch
import torch.nn.functional as F


def distil(teacher, student, x, y, t=2.0):
    with torch.no_grad():
        soft = teacher(x).div(t).softmax(-1)
    logits = student(x)
    kd = F.kl_div((logits / t).log_softmax(-1), soft, reduction="batchmean") * t**2
    return kd + F.cross_entropy(logits, y)
""",
    "children that a helper freezes": """
import torch
from torch import nn
from torchvision.models import resnet50


def freeze(module):
    for p in module.parameters():
        p.requires_grad = False


def get_model(classes):
    net = resnet50(weights="DEFAULT")
    for name, child in net.named_children():
        if name == "layer4":
            break
        freeze(child)
    net.fc = nn.Linear(net.fc.in_features, classes)
    return net


def train(loader):
    net = get_model(4)
    opt = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad], lr=1e-4)
    for epoch in range(2):
        net.train()  # trap: frozen-batchnorm-still-updates
        for x, y in loader:
            opt.zero_grad()
            nn.functional.cross_entropy(net(x), y).backward()
            opt.step()
""",
    "nothing wrong: a decorator of the project's own": """
import torch
from torch import nn
from torch.utils.data import DataLoader


def smart_inference_mode():
    def decorate(fn):
        return (torch.inference_mode if hasattr(torch, "inference_mode") else torch.no_grad)()(fn)

    return decorate


@smart_inference_mode()
def validate(model: nn.Module, val_loader: DataLoader):
    model.eval()
    right = 0
    for x, y in val_loader:
        right += (model(x).argmax(1) == y).sum().item()
    return right / len(val_loader.dataset)
""",
    "a penalty of lengths, an average handed back, the last batch as the epoch's": """
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel


class Lengths:
    def __call__(self, critic, mix):
        (grad,) = torch.autograd.grad(critic(mix).sum(), mix)  # trap: gradient-penalty-without-graph
        (kept,) = torch.autograd.grad(critic(mix).sum(), mix, create_graph=True)
        return ((grad.norm(dim=1) - 1) ** 2).mean() + ((kept.norm(dim=1) - 1) ** 2).mean()


class Swa:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(12, 64), nn.BatchNorm1d(64), nn.Linear(64, 4))
        self.avg = AveragedModel(self.net)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            self.net.train()
            for x, y in loader:
                self.opt.zero_grad()
                nn.functional.cross_entropy(self.net(x), y).backward()
                self.opt.step()
            self.avg.update_parameters(self.net)
        return self.avg  # trap: swa-without-update-bn


def last(net, loader, opt=None):
    net.train(opt is not None)
    with torch.set_grad_enabled(opt is not None):
        for x, y in loader:
            loss = nn.functional.mse_loss(net(x), y)
            if opt is not None:
                opt.zero_grad()
                loss.backward()
                opt.step()
    return loss.item()  # trap: last-batch-for-the-epoch


def main(net, train_loader, val_loader, opt):
    best = float("inf")
    for e in range(10):
        last(net, train_loader, opt)
        val_loss = last(net, val_loader)
        if val_loss < best:
            best = val_loss
            torch.save(net.state_dict(), "best.pt")
    net.eval()
""",
    "phases of which only one says its mode": """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn, self.fc = nn.BatchNorm1d(8), nn.Linear(8, 3)

    def forward(self, x):
        return self.fc(self.bn(x))


def run_phase(net, loader, phase, opt=None):
    if phase == "train":
        net.train()  # trap: eval-mode-missing
    for x, y in loader:
        with torch.set_grad_enabled(phase == "train"):
            loss = nn.functional.cross_entropy(net(x), y)
        if phase == "train":
            opt.zero_grad()
            loss.backward()
            opt.step()


def main(loaders):
    net = Net()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for epoch in range(3):
        for phase in ("train", "val"):
            run_phase(net, loaders[phase], phase, opt)
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


@pytest.mark.parametrize("name", PROGRAMS)
def test_exactly_the_marked_lines(rules, name):
    text = PROGRAMS[name]
    marked = re.compile(r"# trap: ([\w-]+)")
    wanted = [(n, one[1]) for n, line in enumerate(text.split("\n"), 1) if (one := marked.search(line))]
    found = engine.check_text(text, rules, "train.py")
    assert sorted({(one.line, one.slug) for one in found if one.severity.value != "hint"}) == wanted
