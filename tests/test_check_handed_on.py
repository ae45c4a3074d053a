"""What is handed on: functions as values, losses in dictionaries, lists of an object, loss helpers of an evaluation."""

import pytest

from torchlore.check import engine

CRITERION = """
import torch
import torch.nn.functional as F
from torch import nn

class Trainer:
    def __init__(self, model):
        self.model = model
        self.criterion = F.NAME
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(self, x, y):
        loss = self.criterion(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

def fit(model, x, y, loss_fn=F.NAME):
    return loss_fn(model(x), y)

net = nn.Sequential(nn.Linear(4, 3), nn.Softmax(dim=1))
Trainer(net).step(torch.randn(8, 4), torch.randint(0, 3, (8,)))
"""
CHOSEN = """
import torch
import torch.nn.functional as F
from torch import nn

net = nn.Linear(4, 1)
criterion = F.mse_loss if len(net.weight) > 1 else F.l1_loss
x, y = torch.randn(16, 4), torch.randn(16)
loss = criterion(net(x)SHAPE, y)
"""
TABLES = """
import torch
from torch import nn

def tables(columns):
    made = {}
    for name, size in columns:
        made[name] = nn.Embedding(size, 8)
    return WRAP(made)

class Features(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.columns = columns
        self.tables = tables(columns)

    def forward(self, x):
        return torch.cat([self.tables[name](x[:, i]) for i, (name, _) in enumerate(self.columns)], 1)
"""
WINDOW = """
def learn(net, loader, criterion, optimizer, wanted):
    seen = 0
    for x, y in loader:
        optimizer.zero_grad()
        criterion(net(x), y).backward()
        seen += len(x)
        if seen >= wanted:
            optimizer.step()
            LINE
"""
ENTRY = """
def learn(net, loader, optimizer, cfg):
    losses = []
    for batch in loader:
        out = net(batch)
        optimizer.zero_grad()
        out[cfg.metric].backward()
        optimizer.step()
        losses.append(out[cfg.metric]CUT)
    return sum(losses) / len(losses)
"""
EMPTIED = """
import numpy as np

def measure(net, loader, criterion):
    losses = []
    for x, y in loader:
        losses = []
        losses.append(criterion(net(x), y).item())
        LINE
    return np.mean(losses)
"""
OUTPUTS = """
import torch

class Task:
    def __init__(self, net):
        self.net = net
        self.val_losses = []

    def validation_step(self, x):
        self.val_losses.append(self.net(x).mean().item())

    def end(self):
        mean = sum(self.val_losses) / len(self.val_losses)
        LINE
        return mean

def run(task, batches, epochs):
    for epoch in range(epochs):
        with torch.no_grad():
            for x in batches:
                task.validation_step(x)
        print(task.end())
"""
SIZES = """
from torch.utils.data import DataLoader

def epoch(net, loader, optimizer, meter):
    for x, y in loader:
        optimizer.zero_grad()
        loss = net(x, y)
        loss.backward()
        optimizer.step()
        meter.update(loss.item(), SIZE)

def make(data):
    return DataLoader(data, batch_size=64, shuffle=True)
"""
HELPER = """
class Compute:
    def __init__(self, criterion, opt=None):
        self.criterion, self.opt = criterion, opt

    def __call__(self, out, y):
        loss = self.criterion(out, y)
        loss.backward()
        if self.opt is not None:
            self.opt.step()
            self.opt.zero_grad()
        return loss.item()

def run(net, train, held_out, criterion, opt):
    for x, y in train:
        Compute(criterion, opt)(net(x), y)
    MODE
    for x, y in held_out:
        Compute(criterion, None)(net(x), y)
"""
GRAPHS = """
import torch

def evaluate(net, loader, criterion):
    net.eval()
    total = 0.0
    for x, y in loader:
        total += criterion(net(x), y).item()LINE
    return total

def learn(net, loader, criterion, opt):
    for x, y in loader:
        opt.zero_grad()
        criterion(net(x), y).backward()
        opt.step()
"""
OVERLAP = """
import torch

def dice_loss(out, y):
    p = torch.sigmoid(out)
    tp = (p * y).sum()
    fp = (p * (1 - y)).sum()
    fn = ((1 - p) * y).sum()
    return SIGN2 * tp / (2 * tp + fp + fn)

class Task:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters())

    def iteration(self, x, y):
        return {"loss": dice_loss(self.net(x), y), "n": len(x)}

    def step(self, x, y):
        found = self.iteration(x, y)
        self.optimizer.zero_grad()
        found["loss"].backward()
        self.optimizer.step()
"""
DICTS = """
def parts(net, x):
    return {"box": net(x).mean(), "kind": net(x).sum()}

def learn(net, loader, optimizer):
    seen = []
    for x in loader:
        losses = parts(net, x)
        losses["all"] = losses["box"] + losses["kind"]
        optimizer.zero_grad()
        losses["all"].backward()
        optimizer.step()
        seen.append(KEPT)
    return [float(one["all"]) for one in seen]
"""
RELATIONS = """
import torch
from torch import nn

class Relations(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.parts = {}
        for i in range(n):
            self.parts[i] = {"w": nn.Parameter(torch.zeros(4, 4)), "b": OTHER}

    def forward(self, x, i):
        return x @ self.parts[i]["w"] + self.parts[i]["b"]
"""
GROUPS = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.neck, self.head = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 1)

    def forward(self, x):
        return self.head(self.neck(self.body(x)))

def options(net, lr):
    return dict(
        params=[
            {"params": net.body.parameters(), "weight_decay": 0.1},
            {"params": net.head.parameters()},
            LINE
        ],
        lr=lr,
    )

net = Net()
optimizer = torch.optim.Adam(**options(net, 1e-3))
for _ in range(9):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).mean().backward()
    optimizer.step()
"""
MODES = """
import torch
from torch import nn

class Trainer:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def train(self, loader, criterion):
        self.net.eval()  # WHY
        for x, y in loader:
            self.optimizer.zero_grad()
            criterion(self.net(x), y).backward()
            self.optimizer.step()

Trainer(nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 1)))
"""
TUNED = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.head = nn.Linear(4, 4), nn.Linear(4, 1)

    def forward(self, x):
        with torch.no_grad():
            x = self.encoder(x)
        return self.head(x)

net = Net()
groups = [{"params": net.PART.parameters(), "lr": 1e-4}, {"params": net.head.parameters()}]
optimizer = torch.optim.AdamW(groups, lr=1e-3)
"""
STEPS = """
import torch

def ahead(heads, context, z, batch):
    nce = 0
    right = 0
    for i in range(len(heads)):
        scores = z[i] @ heads[i](context).t()
        right OP torch.sum(torch.eq(scores.argmax(1), torch.arange(batch)))
        nce += torch.diag(scores.log_softmax(1)).sum()
    return right / batch, nce
"""
PIXELS = """
import torch
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.rand(60, 1, 8, 8), torch.zeros(60, 8, 8)), 12)

def measure(net):
    hits, seen = 0, 0
    for x, y in loader:
        hits += (net(x).argmax(1) == y).sum().item()
        seen += SIZE
    return hits / seen
"""
SEVERAL = """
import torch

class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b
        self.optimizers = {"a": torch.optim.Adam(a.parameters()), "b": torch.optim.Adam(b.parameters())}

    def update(self, x):
        self.optimizers["a"].zero_grad()
        LINE
        self.b(self.a(x)).mean().backward()
        for one in self.optimizers.values():
            one.step()
"""
HALF = """
import torch
from torch import nn

class Trainer:
    def __init__(self, encoder, decoder):
        self.encoder, self.decoder = encoder, decoder
        self.optimizer = torch.optim.Adam(GIVEN)

    def step(self, x):
        self.optimizer.zero_grad()
        nn.functional.mse_loss(self.decoder(self.encoder(x)), x).backward()
        self.optimizer.step()

trainer = Trainer(nn.Linear(8, 2), nn.Linear(2, 8))
trainer.step(torch.randn(4, 8))
"""
CHAINED = """
import itertools
import torch
from torch import nn

def learn(a, b, loader):
    params = CALL(a.parameters(), b.parameters())
    optimizer = torch.optim.SGD(params, lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        b(a(x)).mean().backward()
        nn.utils.clip_grad_norm_(params, 1.0)
        optimizer.step()

learn(nn.Linear(2, 2), nn.Linear(2, 2), [])
"""
FIRST_PASS = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.places = None
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        if self.places is None:
            self.places = MADE
        return self.fc(x + self.places)

net = Net()
optimizer = torch.optim.Adam(net.parameters())
net(torch.randn(2, 4)).mean().backward()
optimizer.step()
"""
MODE = """
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def forward(self, x):
        return F.dropout(x, 0.5, training=self.MODE)
"""
SCORES = """
import torch
import torch.nn.functional as F
from torch import nn

class Graph(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(4, 3))

    def forward(self, x, adj):
        return END(adj @ (x @ self.w))

net = Graph()
loss = F.nll_loss(net(torch.randn(5, 4), torch.eye(5))[:3], torch.zeros(3).long())
"""
PARTS = """
import torch.nn.functional as F

def losses(out, y):
    main = F.cross_entropy(out["main"], y)
    aux = F.cross_entropy(out["aux"], y)
    total = main + 0.4 * aux
    return main, aux, total

def step(net, x, y, optimizer, log):
    optimizer.zero_grad()
    main, aux, total = losses(net(x), y)
    WHICH.backward()
    optimizer.step()
    log(main.item(), aux.item(), total.item())
"""
TURNS = """
def evaluate(net, batches):
    right, total = 0, 0
    for x, y in batches:
        right += (net(x).argmax(1) == y).sum().item()
        total += SIZE
    return right / total
"""
SHORTCUT = """
from torch import nn

class Block(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.project = nn.Conv1d(a, b, 1)
        self.skip = lambda x: CALL(x)
"""
RATIO = """
import torch

def surrogate(log_prob, old_log_prob, adv, eps):
    ratio = HOW
    return torch.min(ratio * adv, ratio.clamp(1 - eps, 1 + eps) * adv).mean().neg()
"""
MEASURED = """
def fit(net, train_loader, val_loader, evaluate, epochs):
    for _ in range(epochs):
        train_loss = evaluate(net, train_loader)
        val_loss = evaluate(net, WHICH)
        print(train_loss, val_loss)
"""
PICKED = """
import torch

def count(net, loader):
    right = 0
    for x, labels in loader:
        PAIR = torch.max(net(x), 1)
        right += torch.sum(preds == labels.data)
    return right
"""


@pytest.mark.parametrize(
    ("slug", "text", "expected"),
    [
        ("softmax-before-cross-entropy", CRITERION.replace("NAME", "cross_entropy"), ["error"]),
        ("softmax-before-cross-entropy", CRITERION.replace("NAME", "mse_loss"), []),
        ("nll-on-probabilities", CRITERION.replace("NAME", "nll_loss"), ["error"]),
        ("loss-broadcasts", CHOSEN.replace("SHAPE", ""), ["error"]),
        ("loss-broadcasts", CHOSEN.replace("SHAPE", ".squeeze(1)"), []),
        ("modules-in-plain-container", TABLES.replace("WRAP", ""), ["error"]),
        ("modules-in-plain-container", TABLES.replace("WRAP", "nn.ModuleDict"), []),
        ("micro-batch-zero-grad", WINDOW.replace("LINE", "seen = 0"), ["error"]),
        ("micro-batch-zero-grad", WINDOW.replace("LINE", "print(seen)"), []),
        ("accumulate-loss-with-graph", ENTRY.replace("CUT", ""), ["error"]),
        ("accumulate-loss-with-graph", ENTRY.replace("CUT", ".item()"), []),
        ("last-batch-for-the-epoch", EMPTIED.replace("LINE", "print(len(x))"), ["warning"]),
        ("last-batch-for-the-epoch", EMPTIED.replace("LINE", "print(losses)"), []),
        ("metric-not-reset", OUTPUTS.replace("LINE", "print(mean)"), ["warning"]),
        ("metric-not-reset", OUTPUTS.replace("LINE", "self.val_losses.clear()"), []),
        ("metric-not-reset", OUTPUTS.replace("LINE", "self.val_losses = []"), []),
        ("loss-over-the-wrong-count", SIZES.replace("SIZE", "loader.batch_size"), ["warning"]),
        ("loss-over-the-wrong-count", SIZES.replace("SIZE", "x.size(0)"), []),
        ("loss-over-the-wrong-count", SIZES.replace("SIZE", "loader.batch_size").replace("True)", "True, drop_last=True)"), []),
        ("eval-without-no-grad", HELPER.replace("MODE", "net.eval()"), ["warning", "warning"]),
        ("eval-without-no-grad", HELPER.replace("MODE", "net.train()"), []),
        ("eval-without-no-grad", GRAPHS.replace("LINE", ""), ["warning"]),
        ("eval-without-no-grad", GRAPHS.replace("LINE", "\n        torch.autograd.grad(net(x).sum(), x)"), []),
        ("eval-without-no-grad", GRAPHS.replace("def eval", "@torch.no_grad()\ndef eval"), []),
        ("objective-not-negated", OVERLAP.replace("SIGN", ""), ["warning"]),
        ("objective-not-negated", OVERLAP.replace("SIGN", "1 - "), []),
        ("accumulate-loss-with-graph", DICTS.replace("KEPT", "losses"), ["warning"]),
        ("accumulate-loss-with-graph", DICTS.replace("KEPT", "{k: v.item() for k, v in losses.items()}"), []),
        ("modules-in-plain-container", RELATIONS.replace("OTHER", "nn.Parameter(torch.zeros(4))"), ["error"]),
        ("modules-in-plain-container", RELATIONS.replace("OTHER", "0.0"), []),
        ("module-in-no-optimizer", GROUPS.replace("LINE", ""), ["warning"]),
        ("module-in-no-optimizer", GROUPS.replace("LINE", '{"params": net.neck.parameters()},'), []),
        ("train-mode-not-restored", MODES.replace("WHY", "go"), ["warning"]),
        ("train-mode-not-restored", MODES.replace("WHY", "dropout stays off"), []),
        ("trainable-layer-under-no-grad", TUNED.replace("PART", "encoder"), ["error"]),
        ("trainable-layer-under-no-grad", TUNED.replace("PART", "head"), []),
        ("last-batch-for-the-epoch", STEPS.replace("OP", "="), ["warning"]),
        ("last-batch-for-the-epoch", STEPS.replace("OP", "+="), []),
        ("accuracy-over-batches", PIXELS.replace("SIZE", "y.size(0)"), ["error"]),
        ("accuracy-over-batches", PIXELS.replace("SIZE", "y.numel()"), []),
        ("missing-zero-grad", SEVERAL.replace("LINE", ""), ["error"]),
        ("missing-zero-grad", SEVERAL.replace("LINE", 'self.optimizers["b"].zero_grad()'), []),
        ("module-in-no-optimizer", HALF.replace("GIVEN", "self.encoder.parameters()"), ["warning"]),
        ("module-in-no-optimizer", HALF.replace("GIVEN", "[*encoder.parameters(), *decoder.parameters()]"), []),
        ("exhausted-parameter-generator", CHAINED.replace("CALL", "itertools.chain"), ["error"]),
        ("exhausted-parameter-generator", CHAINED.replace("CALL", "both"), []),
        ("layer-created-in-forward", FIRST_PASS.replace("MADE", "nn.Parameter(torch.zeros(4))"), ["warning"]),
        ("layer-created-in-forward", FIRST_PASS.replace("MADE", "torch.zeros(4)"), []),
        ("functional-dropout-always-on", MODE.replace("MODE", "train)").replace("))", ")"), ["warning"]),
        ("functional-dropout-always-on", MODE.replace("MODE", "training)").replace("))", ")"), []),
        ("nll-on-probabilities", SCORES.replace("END", ""), ["warning"]),
        ("nll-on-probabilities", SCORES.replace("END", "normalised_logs"), []),
        ("term-never-used", PARTS.replace("WHICH", "main"), ["warning"]),
        ("term-never-used", PARTS.replace("WHICH", "total"), []),
        ("accuracy-over-batches", TURNS.replace("SIZE", "1"), ["warning"]),
        ("accuracy-over-batches", TURNS.replace("SIZE", "len(y)"), []),
        ("layer-created-in-forward", SHORTCUT.replace("CALL", "nn.Conv1d(a, b, 1)"), ["error"]),
        ("layer-created-in-forward", SHORTCUT.replace("CALL", "nn.ReLU()"), []),
        ("layer-created-in-forward", SHORTCUT.replace("CALL", "self.project"), []),
        ("surrogate-clipped-wrong", RATIO.replace("HOW", "log_prob / old_log_prob"), ["error"]),
        ("surrogate-clipped-wrong", RATIO.replace("HOW", "torch.exp(log_prob - old_log_prob)"), []),
        ("training-set-overlaps-validation", MEASURED.replace("WHICH", "train_loader"), ["warning"]),
        ("training-set-overlaps-validation", MEASURED.replace("WHICH", "val_loader"), []),
        ("scores-for-labels", PICKED.replace("PAIR", "preds, _"), ["error"]),
        ("scores-for-labels", PICKED.replace("PAIR", "_, preds"), []),
    ],
)  # fmt: skip
def test_a_word_decides(rules, slug, text, expected):
    found = engine.check_text(text.replace("LINE", ""), rules, "train.py")
    assert [one.severity.value for one in found if one.slug == slug] == expected
