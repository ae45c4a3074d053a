"""Programs as people write them, in trainer classes and step functions, networks from elsewhere: exactly the marked lines."""

import re

import pytest

from torchlore.check import engine
from torchlore.cli.check import all_rules

PROGRAMS = {
    "a trainer that keeps a metric, a best score and a loss with weights": """
import copy
import torch
from torch import nn
from torchmetrics.classification import MulticlassAccuracy


class CenterLoss(nn.Module):
    def __init__(self, classes, width):
        super().__init__()
        self.centers = nn.Parameter(torch.randn(classes, width))

    def forward(self, features, labels):
        return (features - self.centers[labels]).pow(2).sum(1).mean()


class Trainer:
    def __init__(self, model, train_loader, val_loader, lr=1e-3):
        self.model = model
        self.train_loader, self.val_loader = train_loader, val_loader
        self.criterion = nn.CrossEntropyLoss()
        self.center_loss = CenterLoss(10, 64)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)  # trap: module-in-no-optimizer
        self.accuracy = MulticlassAccuracy(num_classes=10)
        self.best_loss = float("inf")
        self.best_state = None

    def train_epoch(self):
        self.model.train()
        for x, y in self.train_loader:
            features, logits = self.model(x)
            loss = self.criterion(logits, y) + 0.1 * self.center_loss(features, y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def validate(self):
        self.model.eval()
        total = 0.0
        with torch.no_grad():
            for x, y in self.val_loader:
                _, logits = self.model(x)
                total += self.criterion(logits, y).item()
                self.accuracy.update(logits, y)
        return total / len(self.val_loader), self.accuracy.compute().item()  # trap: metric-not-reset

    def fit(self, epochs):
        for epoch in range(epochs):
            self.train_epoch()
            val_loss, acc = self.validate()
            print(epoch, val_loss, acc)
            if val_loss > self.best_loss:  # trap: best-compared-the-wrong-way
                self.best_loss = val_loss
                self.best_state = copy.deepcopy(self.model.state_dict())
""",
    "a trainer whose step is a method": """
import torch
from torch import nn


class Trainer:
    def __init__(self, model, train_loader, val_loader, cfg):
        self.model = model
        self.train_loader, self.val_loader = train_loader, val_loader
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=cfg.lr)
        self.accum = cfg.accum
        self.best_loss = float("inf")
        self.history = []

    def train_step(self, batch, step):
        x, y = batch
        loss = self.criterion(self.model(x), y)
        loss.backward()  # trap: loss-not-divided-by-accum
        if (step + 1) % self.accum == 0:
            self.optimizer.step()
            self.optimizer.zero_grad()
        return loss

    def fit(self, epochs):
        for epoch in range(epochs):
            running = 0
            for step, batch in enumerate(self.train_loader):
                running += self.train_step(batch, step)  # trap: accumulate-loss-with-graph
            val_loss = self.validate()
            if val_loss < self.best_loss:  # trap: best-never-updated
                torch.save(self.model.state_dict(), "best.pt")
            self.history.append(running / len(self.train_loader))

    @torch.no_grad()
    def validate(self):
        self.model.eval()  # trap: train-mode-not-restored
        total = 0.0
        for x, y in self.val_loader:
            total += self.criterion(self.model(x), y).item()
        return total / len(self.val_loader)
""",
    "a step function that gives the loss back": """
import torch
def train_step(model, criterion, optimizer, x, y):
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


def fit(model, loader, criterion, optimizer, epochs):
    for epoch in range(epochs):
        total = 0
        for x, y in loader:
            loss = train_step(model, criterion, optimizer, x, y)
            total += loss  # trap: accumulate-loss-with-graph
        print(total / len(loader))


def fine(model, loader, criterion, optimizer, epochs):
    for epoch in range(epochs):
        total = 0
        for x, y in loader:
            loss = train_step(model, criterion, optimizer, x, y)
            total += loss.item()
        print(total / len(loader))
""",
    "a step function in the wrong order": """
import torch


def train_step(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    optimizer.step()  # trap: step-before-backward
    loss.backward()
    return loss.item()


def fit(model, loader, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for x, y in loader:
        train_step(model, optimizer, x, y)
""",
    "an evaluation that is given its metric": """
import torch
from torchmetrics import Accuracy


def train_one_epoch(model, loader, criterion, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()


@torch.no_grad()
def evaluate(model, loader, metric):
    model.eval()
    for x, y in loader:
        metric.update(model(x), y)
    return metric.compute()  # trap: metric-not-reset


def main(model, train, val, criterion, optimizer):
    metric = Accuracy(task="multiclass", num_classes=10).to("cuda")
    for epoch in range(10):
        model.train()
        train_one_epoch(model, train, criterion, optimizer)
        print(epoch, evaluate(model, val, metric))


def main_fine(model, train, val, criterion, optimizer):
    for epoch in range(10):
        metric = Accuracy(task="multiclass", num_classes=10)
        model.train()
        train_one_epoch(model, train, criterion, optimizer)
        print(epoch, check(model, val, metric))


@torch.no_grad()
def check(model, loader, metric):
    model.eval()
    for x, y in loader:
        metric.update(model(x), y)
    return metric.compute()
""",
    "two players, a method each": """
import torch
from torch import nn


class Adversary:
    def __init__(self, G, D):
        self.G, self.D = G, D
        self.opt_g = torch.optim.Adam(G.parameters())
        self.opt_d = torch.optim.Adam(D.parameters())
        self.bce = nn.BCEWithLogitsLoss()

    def train_generator(self, z):
        fake = self.G(z).detach()  # trap: generator-loss-detached
        self.show(fake)
        verdict = self.D(fake)
        loss = self.bce(verdict, torch.ones_like(verdict))
        self.opt_g.zero_grad()
        loss.backward()
        self.opt_g.step()

    def train_discriminator(self, z, real):
        fake = self.G(z).detach()
        self.show(fake)
        verdict, truth = self.D(fake), self.D(real)
        loss = self.bce(verdict, torch.zeros_like(verdict)) + self.bce(truth, torch.ones_like(truth))
        self.opt_d.zero_grad()
        loss.backward()
        self.opt_d.step()
""",
    "an evaluation that records graphs": """
import torch
from torch import nn

class Trainer:
    def __init__(self, model, train_loader, val_loader):
        self.model, self.train_loader, self.val_loader = model, train_loader, val_loader
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.Adam(model.parameters())

    def train_epoch(self):
        self.model.train()
        for x, y in self.train_loader:
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(x), y)
            loss.backward()
            self.optimizer.step()

    def evaluate(self):
        self.model.eval()
        total, correct = 0.0, 0
        for x, y in self.val_loader:
            out = self.model(x)  # trap: eval-without-no-grad
            total += self.criterion(out, y).item()
            correct += (out.argmax(1) == y).sum().item()
        return total / len(self.val_loader), correct / len(self.val_loader.dataset)
""",
    "a body frozen in the constructor": """
import torch
from torch import nn
from torchvision import models

class Finetuner:
    def __init__(self, num_classes, loader):
        self.model = models.resnet50(weights="DEFAULT")
        for p in self.model.parameters():
            p.requires_grad = False
        self.model.fc = nn.Linear(self.model.fc.in_features, num_classes)
        self.loader = loader
        self.optimizer = torch.optim.Adam(self.model.fc.parameters())
        self.criterion = nn.CrossEntropyLoss()

    def train_epoch(self):
        self.model.train()  # trap: frozen-batchnorm-still-updates
        for x, y in self.loader:
            self.optimizer.zero_grad()
            self.criterion(self.model(x), y).backward()
            self.optimizer.step()
""",
    "a part set free behind an optimizer of the trainable ones": """
import torch
from torch import nn
import torch.nn.functional as F

from torchvision import models

def finetune(loader, epochs, n_cls):
    model = models.resnet18(weights="IMAGENET1K_V1")
    for p in model.parameters():
        p.requires_grad = False  # trap: frozen-batchnorm-still-updates
    model.fc = nn.Linear(512, n_cls)
    opt = torch.optim.Adam(filter(lambda p: p.requires_grad, model.parameters()), lr=1e-3)
    for epoch in range(epochs):
        if epoch == 5:
            for p in model.layer4.parameters():
                p.requires_grad = True  # trap: module-in-no-optimizer
        for x, y in loader:
            opt.zero_grad()
            F.cross_entropy(model(x), y).backward()
            opt.step()
""",
    "a part set free behind an optimizer of the head": """
import torch
from torch import nn
import torch.nn.functional as F

from torchvision import models

def finetune(loader, epochs, n_cls):
    model = models.resnet18(weights="IMAGENET1K_V1")
    for p in model.parameters():
        p.requires_grad = False  # trap: frozen-batchnorm-still-updates
    model.fc = nn.Linear(512, n_cls)
    opt = torch.optim.Adam(model.fc.parameters(), lr=1e-3)
    for epoch in range(epochs):
        if epoch == 5:
            for p in model.layer4.parameters():
                p.requires_grad = True  # trap: module-in-no-optimizer
        for x, y in loader:
            opt.zero_grad()
            F.cross_entropy(model(x), y).backward()
            opt.step()
""",
    "members of one ensemble": """
import torch
from torch import nn
import torch.nn.functional as F

class Ensemble:
    def __init__(self, make, n):
        self.members = [make()] * n  # trap: shared-module-by-list-multiply
        self.opts = [torch.optim.Adam(m.parameters()) for m in self.members]

    def train_step(self, x, y):
        for m, opt in zip(self.members, self.opts):
            opt.zero_grad()
            F.cross_entropy(m(x), y).backward()
            opt.step()
""",
    "tokens as a map": """
import torch
from torch import nn
import torch.nn.functional as F

class PatchHead(nn.Module):
    def __init__(self, dim, patch):
        super().__init__()
        self.proj = nn.Linear(dim, patch * patch * 3)
        self.patch = patch

    def forward(self, tokens):
        b, n, c = tokens.shape
        h = w = int(n ** 0.5)
        feat = tokens.view(b, c, h, w)  # trap: view-as-transpose
        return feat + tokens.transpose(1, 2).view(b, c, h, w)
""",
    "a script that evaluates below its training": """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x, y = torch.randn(256, 10), torch.randint(0, 3, (256,))
train, val = DataLoader(TensorDataset(x, y), 32, shuffle=True), DataLoader(TensorDataset(x, y), 32)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 3))
opt = torch.optim.Adam(model.parameters())
loss_fn = nn.CrossEntropyLoss()
for epoch in range(3):
    model.train()
    for a, b in train:
        opt.zero_grad()
        loss_fn(model(a), b).backward()
        opt.step()
    model.eval()
    total = 0.0
    for a, b in val:
        total += loss_fn(model(a), b).item()  # trap: eval-without-no-grad
    print(epoch, total / len(val))
""",
    "nothing wrong: the last layer of a list is no ReLU": """
import torch
from torch import nn
import torch.nn.functional as F


class Double(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(a, b, 3), nn.ReLU())

    def forward(self, x):
        return self.net(x)


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        layers = [Double(3, 8)]
        for _ in range(n):
            layers.append(Double(8, 8))
        layers.append(nn.Conv2d(8, 5, 1))
        self.layers = nn.ModuleList(layers)

    def forward(self, x):
        x = self.layers[0](x)
        return self.layers[-1](x)


def step(x, y):
    net = Net(2)
    F.cross_entropy(net(x), y).backward()
""",
    "nothing wrong: places moved by hand": """
import torch
from torch import nn


class Places(nn.Module):
    def forward(self, z, b, n):
        z = z.view(b, -1, z.size(1))
        z = z.permute(0, 2, 1).contiguous()
        return z.view(b, -1, n, n)
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_all_rules_flag_exactly_the_marked_lines(name: str) -> None:
    text = PROGRAMS[name].lstrip()
    found = {(one.line, one.slug) for one in engine.check_text(text, all_rules()) if one.severity.value != "hint"}
    lines = enumerate(text.splitlines(), 1)
    assert found == {
        (number, mark[1]) for number, line in lines for mark in [re.search(r"# trap: (\S+)", line)] if mark
    }
