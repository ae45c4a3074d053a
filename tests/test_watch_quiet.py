"""What looks like a trap while it runs and is none, beside what is: small real programs under every sentinel."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

HEAD = """
import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
"""
TARGET = """
net, other = nn.Linear(4, 2), nn.Linear(4, 2)
FILL
opt = optim.Adam(net.parameters(), 1e-3)
for _ in range(8):
    now, later = torch.randn(32, 4), torch.randn(32, 4)
    value = net(now).max(1)[0]
    wanted = torch.randn(32) + 0.9 * other(later).max(1)[0]
    loss = F.mse_loss(value, wanted)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
ONE_BY_ONE = """
class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Parameter(torch.zeros(1, 16))
        self.first, self.last = nn.Linear(16, 16), nn.Linear(16, 3)

    def forward(self, x):
        return self.last(torch.relu(self.first(x + self.query)))

net = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), Head())
opt = optim.Adam(GIVEN, 1e-3)
for _ in range(8):
    loss = F.cross_entropy(net(torch.randn(16, 8)), torch.randint(0, 3, (16,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
DICE = """
net = nn.Linear(8, 8)
opt = optim.Adam(net.parameters(), 1e-3)
for _ in range(24):
    x, t = torch.randn(16, 8), (torch.rand(16, 8) > 0.5).float()
    p = torch.sigmoid(net(x))
    loss = -2 * (p * t).sum() / (p.sum() + t.sum())
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
GOALS = """
class Teacher(torch.utils.data.Dataset):
    def __init__(self, augments):
        self.pictures, self.features, self.augments = torch.rand(32, 3, 4, 4), torch.randn(32, 4), augments

    def __len__(self):
        return 32

    def __getitem__(self, index):
        light = torch.rand(()) + 0.5 if self.augments else 1.0
        return self.pictures[index] * light, self.features[index]

net = nn.Sequential(nn.Flatten(), nn.Linear(48, 4))
opt = optim.Adam(net.parameters(), 1e-3)
train_loader, val_loader = DataLoader(Teacher(True), 8, shuffle=True), DataLoader(Teacher(AUGMENTS), 8)
for _ in range(6):
    net.train()
    for x, features in train_loader:
        loss = F.mse_loss(net(x), features)
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        print(sum(F.mse_loss(net(x), features).item() for x, features in val_loader) / len(val_loader))
"""
STACKED = """
class NAME(nn.Module):
    def __init__(self):
        super().__init__()
        block = nn.Linear(4, 4)
        self.blocks, self.head = nn.ModuleList([block] * 3), nn.Linear(4, 2)

    def forward(self, x):
        for block in self.blocks:
            x = torch.tanh(block(x))
        return self.head(x)


net = NAME()
opt = optim.SGD(net.parameters(), 0.1)
for _ in range(4):
    opt.zero_grad()
    F.cross_entropy(net(torch.randn(8, 4)), torch.randint(0, 2, (8,))).backward()
    opt.step()
"""
SCHEDULED = """
class Inner(optim.Optimizer):  # steps by another optimizer, which has the same groups
    def __init__(self, base):
        super().__init__(base.param_groups, {})
        self.base, self.param_groups = base, base.param_groups

    def step(self):
        self.base.step()


net, twin = nn.Linear(4, 2), nn.Linear(4, 2)
stepped = optim.SGD(net.parameters(), 0.1)
made = {"twice": lambda: optim.SGD(net.parameters(), 0.1), "inner": lambda: Inner(stepped),
        "twin": lambda: optim.SGD(twin.parameters(), 0.1)}
plan = optim.lr_scheduler.CosineAnnealingLR(made["WHICH"](), T_max=20)
for _ in range(12):
    stepped.zero_grad()
    F.cross_entropy(net(torch.randn(8, 4)), torch.randint(0, 2, (8,))).backward()
    stepped.step()
    plan.step()
"""
MEASURED = """
data = TensorDataset(torch.randn(64, 5), torch.randn(64, 1))
loader = DataLoader(data, batch_size=16, shuffle=True)
NAME = DataLoader(data, batch_size=16)
net = nn.Linear(5, 1)
opt = optim.SGD(net.parameters(), 0.1)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        F.mse_loss(net(x), y).backward()
        opt.step()
    with torch.no_grad():
        print(sum(F.mse_loss(net(x), y).item() for x, y in NAME))
"""
PICKED = """
net = nn.Linear(4, 3)
opt = optim.SGD(net.parameters(), 0.1)
for _ in range(6):
    x, y = torch.randn(16, 2, 4), torch.randint(0, 3, (16, 2))
    scores = LAST(net(x))
    loss = F.nll_loss(scores.view(-1, 3), y.view(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
"""

MEAN_TEACHER = """
import copy
net = nn.Sequential(nn.Linear(5, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
teacher = copy.deepcopy(net).requires_grad_(False)
opt = optim.SGD(net.parameters(), 0.05)
for _ in range(50):
    x = torch.randn(32, 5)
    with torch.no_grad():
        soft = teacher(x + 0.1 * torch.randn_like(x)).softmax(1)
    out = net(x)
    loss = F.cross_entropy(out, (x[:, 0] > 0).long()) + (out.softmax(1) - soft).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    for t, s in zip(teacher.parameters(), net.parameters()):
        t.data.mul_(0.99).add_(s.data, alpha=0.01)
"""
ATTACKED = """
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
opt = optim.SGD(net.parameters(), 0.1)
for _ in range(4):
    net.train()
    for _ in range(3):
        F.cross_entropy(net(torch.randn(16, 4)), torch.randint(0, 2, (16,))).backward()
        opt.step()
        opt.zero_grad(set_to_none=False)
    net.eval()
    image = torch.randn(1, 4, requires_grad=True)
    net(image)[0, 1].backward()
    for p in net.parameters():
        p.grad.data.zero_()
    ious = torch.tensor([3.0, 0.0]) / torch.tensor([4.0, 0.0])
    print(image.grad.norm().item(), torch.nanmean(ious).item(), ious[~ious.isnan()].mean().item())
"""
SKIPPED = """
import warnings
from torch.utils.checkpoint import checkpoint
warnings.simplefilter("ignore")
stem, head = nn.Sequential(nn.Linear(4, 8), nn.ReLU()), nn.Linear(8, 2)
opt = optim.SGD([*stem.parameters(), *head.parameters()], 0.1)
for _ in range(8):
    opt.zero_grad()
    hidden = checkpoint(stem, torch.randn(16, 4), use_reentrant=True)
    F.cross_entropy(head(hidden), torch.randint(0, 2, (16,))).backward()
    opt.step()
"""

TURNS = """
import copy
experts, gate = nn.ModuleList(nn.Linear(4, 4) for _ in range(5)), nn.Linear(4, 5)
norm = nn.BatchNorm1d(4)
parts = nn.ModuleDict({"experts": experts, "gate": gate, "norm": norm})
target = copy.deepcopy(norm).requires_grad_(False)
opt = optim.SGD(parts.parameters(), 1e-4)
for _ in range(60):
    x = torch.randn(3, 4)
    weight, chosen = gate(x).softmax(1).max(1, keepdim=True)
    out = sum((chosen == n) * (n > 1) * weight * one(x) for n, one in enumerate(experts))
    with torch.no_grad():
        wanted = target(x)
    loss = F.mse_loss(norm(x + out), wanted)
    opt.zero_grad()
    loss.backward()
    opt.step()
    for mean, new in zip(target.parameters(), norm.parameters()):
        mean.data = 0.9 * mean.data + 0.1 * new.data
"""
HEADS = """
class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 24)

    def forward(self, x):
        q, k, v = (part.unflatten(2, (2, 4)).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        return ((q @ k.transpose(2, 3) / 2).softmax(DIM) @ v).transpose(1, 2).flatten(2)

net = nn.Sequential(Heads(), nn.Flatten(), nn.Linear(40, 2))
opt = optim.SGD(net.parameters(), 0.1)
for _ in range(6):
    opt.zero_grad()
    F.cross_entropy(net(torch.randn(16, 5, 8)), torch.randint(0, 2, (16,))).backward()
    opt.step()
"""
BRANCHES = """
body, heads = nn.Linear(4, 8), nn.ModuleList(nn.Linear(8, 1) for _ in range(3))
opt = optim.SGD([*body.parameters(), *heads.parameters()], 0.1)
for _ in range(6):
    x = torch.randn(16, 4)
    for n, head in enumerate(heads):
        out = head(body(x))
        if n == 1:
            loss = F.l1_loss(out, x[:, 1:2])
        else:
            loss = F.mse_loss(out, x[:, n : n + 1])
        total = loss
    opt.zero_grad()
    total.backward()
    opt.step()
"""

LATER = """
net, head, side = nn.Linear(6, 8), nn.Linear(8, 2), nn.Linear(8, 2)
opt = optim.SGD([*net.parameters(), *head.parameters(), *side.parameters()], 0.1)
pixels = torch.randint(0, 256, (64, 1, 2, 3)).float()
loader = DataLoader(TensorDataset(pixels.repeat(1, 1, 8, 8), torch.randint(0, 2, (64,))), 4, shuffle=True)
for epoch in range(6):
    for x, y in loader:
        x = x[:, 0, :2, :3].flatten(1) / 255
        hidden = net(x)
        out = head(hidden)
        logs = {f.__name__: f(out, F.one_hot(y, 2).float()) for f in (F.l1_loss, F.huber_loss, F.mse_loss)}
        weight = 0.0 if epoch < 3 else 1.0
        loss = logs["mse_loss"] + weight * side(hidden).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
SENSITIVE = """
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
done = nn.Linear(4, 2)
opt = optim.SGD([*net.parameters()], 0.1)
rest = optim.SGD([*done.parameters()], 0.1)
for _ in range(4):
    net.train()
    for _ in range(12):
        opt.zero_grad()
        F.cross_entropy(net(torch.randn(16, 4)), torch.randint(0, 2, (16,))).backward()
        opt.step()
        rest.zero_grad()
        F.relu(done(torch.randn(16, 4)).norm(dim=1) - 1e3).mean().backward()
        rest.step()
    net.eval()
    for _ in range(5):
        image = torch.randn(3, 4, requires_grad=True)
        print(torch.autograd.grad(net(image)[:, 1].sum(), image)[0].norm().item())
"""
LOGGED = """
net = nn.Linear(6, 1)
opt = optim.SGD(net.parameters(), 0.1)
for _ in range(8):
    x = torch.randn(16, 6)
    logs = {f.__name__: f(net(x), x[:, :1]) for f in (F.l1_loss, F.huber_loss, F.mse_loss)}
    loss = logs["mse_loss"]
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
STEPS = """
x = torch.randn(96, 7, 3)
loader = DataLoader(TensorDataset(x, x.cumsum(1)), 16, shuffle=True)

class Steps(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(3, 8FIRST)
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        return self.out(self.rnn(x)[0])

net = Steps()
opt = optim.SGD(net.parameters(), 0.1)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        F.mse_loss(net(x), y).backward()
        opt.step()
"""
DRAWN = """
def given(n):
    x = torch.randn(n, 7, 3)
    return x, x.mean(1)[:, :2]

class Last(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.rnn = nn.GRU(3, 8, **options)
        self.out = nn.Linear(8, 2)

    def forward(self, x):
        return self.out(self.rnn(x)[0].mean(1))

net = Last(FIRST)
opt = optim.SGD(net.parameters(), 0.1)
for _ in range(8):
    x, y = given(16)
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    opt.step()
"""
CAPTIONED = """
class Captioner(nn.Module):
    def __init__(self):
        super().__init__()
        self.look, self.words = nn.Linear(12, 16), nn.Embedding(30, 16)
        self.rnn, self.out = nn.LSTM(16, 16, batch_first=True), nn.Linear(16, 30)

    def forward(self, picture, words):
        before = self.look(picture).unsqueeze(1)
        return self.out(self.rnn(torch.cat([before, self.words(words)], 1))[0][:, :-1])

net = Captioner()
opt = optim.Adam(net.parameters(), 1e-3)
for _ in range(8):
    words = torch.randint(0, 30, (16, 6))
    opt.zero_grad()
    F.cross_entropy(net(torch.rand(16, 12), words).reshape(-1, 30), words.reshape(-1)).backward()
    opt.step()
"""


GIVEN = """
class Shift(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(6, 1)

    def forward(self, x):
        INSIDE
        return self.out(x)


net = Shift()
opt = optim.SGD(net.parameters(), 0.01)
data = torch.rand(24, 6)
for step in range(12):
    x = TAKEN
    OUTSIDE
    opt.zero_grad()
    net(x).pow(2).mean().backward()
    opt.step()
"""
SLICED = """
x, y = torch.randn(96, 5), torch.randn(96, 1)
train, val = TensorDataset(x[:ENDS], y[:ENDS]), TensorDataset(x[BEGINS:], y[BEGINS:])
loader, judged = DataLoader(train, 16, shuffle=True), DataLoader(val, 16)
net = nn.Linear(5, 1)
opt = optim.SGD(net.parameters(), 0.1)
for epoch in range(3):
    for a, b in loader:
        opt.zero_grad()
        F.mse_loss(net(a), b).backward()
        opt.step()
    with torch.no_grad():
        print(sum(F.mse_loss(net(a), b).item() for a, b in judged))
"""
BY_HAND = """
net = nn.Linear(5, 3)
opt = optim.SGD(net.parameters(), 0.1)


def final(scores):
    return LAST


for _ in range(6):
    x, y = torch.randn(32, 5), torch.randint(0, 2, (32, 3)).float()
    out = final(net(x))
    loss = F.binary_cross_entropy_with_logits(out, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
ROOT = """
net = nn.Linear(5, 3)
opt = optim.SGD(net.parameters(), 0.1)
x = torch.randn(16, 5)
other = x.clone()
other[1:] += 1
for _ in range(3):
    apart = (net(x) - net(other)).pow(2).sum(1)
    loss = torch.sqrt(apart + EPSILON).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if not loss.isfinite():
        break
"""
OWN_NAMES = """
class Linear(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(5, 3) / 3)

    def forward(self, x):
        return x @ self.table


class Embedding(Linear):
    pass


class Net(nn.ModuleList):
    def forward(self, x):
        return sum(one(x).pow(2).mean() for one in self)


net = Net([Linear(), Embedding()])
opt = optim.SGD(net.parameters(), 0.1)
for _ in range(4):
    x = torch.randn(16, 5)
    opt.zero_grad()
    net(x).backward()
    opt.step()
"""
SHADOW = """
net = nn.Linear(5, 3)
opt = optim.SGD(net.parameters(), 0.1)
shadow = {name: COPY for name, p in net.named_parameters()}
for _ in range(4):
    opt.zero_grad()
    net(torch.randn(16, 5)).pow(2).mean().backward()
    opt.step()
    for name, p in net.named_parameters():
        shadow[name].mul_(0.9).add_(p.data, alpha=0.1)
"""

LAST = """
class Last(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.out = nn.LSTM(3, 8, batch_first=True, bidirectional=True), nn.Linear(16, 2)

    def forward(self, x):
        return self.out(self.rnn(x)[0][:, -1])


net = Last()
opt = optim.SGD(net.parameters(), 0.1)
for _ in range(60):
    x = torch.randn(16, 7, 3)
    opt.zero_grad()
    F.mse_loss(net(x), x.mean(1)[:, :2]).backward()
    opt.step()
"""
WORDS = """
net = nn.Sequential(nn.Embedding(20, 8), nn.Linear(8, 20))
opt = optim.SGD(net.parameters(), 0.1)
for _ in range(6):
    words = torch.randint(0, 20, (BATCH, 5))
    opt.zero_grad()
    scores = torch.stack([net(words[:, n]) for n in range(5)])
    F.cross_entropy(scores.view(-1, 20), words.view(-1)).backward()
    opt.step()
"""

UNUSED = """
class Net(nn.Module):
    def __init__(self, normed):
        super().__init__()
        self.normed, self.norm, self.out = normed, nn.BatchNorm1d(5), nn.Linear(5, 1)

    def forward(self, x):
        return self.out(self.norm(x) if self.normed else x)


net = Net(NORMED)
opt = optim.SGD(net.parameters(), 0.1)
for epoch in range(6):
    net.train(epoch < 0)
    print(F.mse_loss(net(torch.ones(16, 5)), torch.ones(16, 1)).item())
    for _ in range(8):
        opt.zero_grad()
        x = torch.randn(16, 5)
        F.mse_loss(net(x), x[:, :1]).backward()
        opt.step()
"""

LONGER = """
net = nn.Linear(4, 4)
opt = optim.SGD(net.parameters(), 0.01)
BEFORE
for step in range(24):
    EACH
    state = torch.randn(8, 4)
    for _ in range(2 + step // 2):
        state = torch.tanh(net(state))
        states.append(state.sum())
    opt.zero_grad()
    state.pow(2).mean().backward()
    opt.step()
"""


def given(inside="pass", taken="data", outside="pass"):
    return GIVEN.replace("INSIDE", inside).replace("TAKEN", taken).replace("OUTSIDE", outside)


def sliced(ends, begins):
    return SLICED.replace("ENDS", ends).replace("BEGINS", begins)


PARTS, CHANGED = "data[step % 3 * 8 : step % 3 * 8 + 8]", ["dataset-changed-in-place"]


@pytest.mark.parametrize(
    ("program", "slugs"),
    [
        (ATTACKED, []),  # gradients cleared by hand; shares of nothing left out
        (SKIPPED, ["gradient-cut-on-the-way"]),
        (LATER, []),  # pixels that the loop scales, a term that gets its weight later
        (SENSITIVE, []),  # graphs that torch.autograd.grad uses; a margin that is kept from the start
        (LOGGED, []),  # losses that are printed only
        (STEPS.replace("FIRST", ", batch_first=True"), []),
        (STEPS.replace("FIRST", ""), ["batch-first-forgotten"]),
        (DRAWN.replace("FIRST", "batch_first=True"), []),  # without a loader
        (DRAWN.replace("FIRST", ""), ["batch-first-forgotten"]),
        (CAPTIONED, []),  # a picture before the words has shifted them
        (MEAN_TEACHER, []),  # an average that sees its batches itself, moved by way of `.data`
        (TURNS, []),  # experts that are not asked; an average that is given other data
        (HEADS.replace("DIM", "-1"), []),
        (HEADS.replace("DIM", "-2"), ["softmax-over-queries"]),
        (BRANCHES, ["loss-overwritten-in-loop"]),
        (TARGET.replace("FILL", "other.load_state_dict(net.state_dict())"), []),  # a target that was not detached
        (TARGET.replace("FILL", ""), ["module-in-no-optimizer"]),
        (
            ONE_BY_ONE.replace("GIVEN", "[p for m in net.modules() if not [*m.children()] for p in m.parameters()]"),
            ["module-in-no-optimizer"],  # a module's own parameter beside its layers
        ),
        (ONE_BY_ONE.replace("GIVEN", "net.parameters()"), []),
        (ONE_BY_ONE.replace("GIVEN", "net[3].last.parameters()"), []),  # the head alone, on purpose
        (DICE, []),  # a share of two sums, of which one needs no gradient
        (GOALS.replace("AUGMENTS", "True"), ["evaluation-differs-each-time"]),
        (GOALS.replace("AUGMENTS", "False"), []),
        (MEASURED.replace("NAME", "measured"), []),  # the training error
        (MEASURED.replace("NAME", "val_loader"), ["training-set-overlaps-validation"]),
        (PICKED.replace("LAST", "nn.LogSoftmax(-1)"), []),
        (PICKED.replace("LAST", "nn.Identity()"), ["nll-on-probabilities"]),
        (given("x -= x.mean(0)"), CHANGED),
        (given("x[:, 0] = 0"), CHANGED),
        (given("x = x - x.mean(0)"), []),
        (given("x -= x.mean(0)", "torch.rand(24, 6)"), []),  # another tensor each time
        (given("x -= x.mean(0)", "data.copy_(torch.rand(24, 6))"), []),  # filled anew
        (given("x -= x.mean(0)", "data.clone()"), []),
        (given("pass", PARTS, "x[:, 2] = 0"), CHANGED),
        (given("pass", PARTS + ".clone()", "x[:, 2] = 0"), []),
        (given("pass", "data", "x[:, 2] += 0.1"), []),  # the state of something that is simulated
        (given("pass", PARTS, "x[:, 2] = torch.rand(8)"), []),  # new numbers in an old place
        (sliced("96", "64"), ["training-set-overlaps-validation"]),
        (sliced("80", "64"), ["training-set-overlaps-validation"]),
        (sliced("64", "64"), []),
        (BY_HAND.replace("LAST", "1 / (1 + torch.exp(-scores))"), ["sigmoid-before-bce-with-logits"]),
        (BY_HAND.replace("LAST", "1 / (2 + scores.abs())"), []),
        (BY_HAND.replace("LAST", "scores.exp() / scores.exp().mean()"), []),
        (ROOT.replace("EPSILON", "1e-12"), []),
        (SHADOW.replace("COPY", "p.data.clone()"), []),
        (LAST, ["last-step-of-two-directions"]),  # not the zero gradients that come of it, too
        (WORDS.replace("BATCH", "1"), []),  # one sentence: its words are in the same order either way
        (WORDS.replace("BATCH", "4"), ["flattened-in-another-order"]),
        (
            UNUSED.replace("NORMED", "False")
            .replace("epoch < 0", "False")
            .replace("    for _ in", "    net.train()\n    for _ in"),
            [],
        ),
        (UNUSED.replace("NORMED", "True"), ["batchnorm-without-statistics"] * 2),  # at both forwards
        (STACKED.replace("NAME", "Encoder"), ["shared-module-by-list-multiply"]),
        (STACKED.replace("NAME", "SharedEncoder"), []),  # what the author wants
        (
            LONGER.replace("BEFORE", "").replace("EACH", "states = []"),
            [],
        ),  # a longer list at each step, but another one
        (LONGER.replace("BEFORE", "states = []").replace("EACH", "pass"), ["accumulate-loss-with-graph"]),
        (OWN_NAMES, []),  # layers of the user's own with names of PyTorch's
        (SHADOW.replace("COPY", "p.data"), ["weights-kept-by-reference"]),
        (SCHEDULED.replace("WHICH", "twice"), ["scheduler-holds-another-optimizer"]),
        (SCHEDULED.replace("WHICH", "inner"), []),
        (SCHEDULED.replace("WHICH", "twin"), []),  # another network's, which waits for its turn
    ],
)
def test_it_speaks_of_the_trap_alone(tmp_path, program, slugs):
    (tmp_path / "train.py").write_text(HEAD + program)
    assert [slug for _, slug in findings(tmp_path)] == slugs


def findings(tmp_path, *options):
    done = subprocess.run(
        [sys.executable, "-m", "torchlore", "watch", *options, "train.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    assert "switched off" not in done.stderr
    return re.findall(r"^train\.py:(\d+): \w+ ([\w-]+):", done.stderr, re.MULTILINE)


@pytest.mark.parametrize(
    ("program", "line", "slug"),
    [
        (SHADOW.replace("COPY", "p.data"), "shadow = {", "weights-kept-by-reference"),
        (BY_HAND.replace("LAST", "1 / (1 + torch.exp(-scores))"), "return 1 /", "sigmoid-before-bce-with-logits"),
        (BY_HAND.replace("LAST", "torch.sigmoid(scores)"), "return torch.sigmoid", "sigmoid-before-bce-with-logits"),
        (given("x -= x.mean(0)"), "x -=", "dataset-changed-in-place"),
        (ROOT.replace("EPSILON", "0"), "torch.sqrt", "nan-gradient-op"),
    ],
)
def test_it_names_the_line_to_change(tmp_path, program, line, slug):
    (tmp_path / "train.py").write_text(HEAD + program)
    told = [int(number) for number, one in findings(tmp_path, "--no-source") if one == slug]
    assert told == [n for n, text in enumerate((HEAD + program).splitlines(), 1) if line in text]


def test_an_environment_inside_the_project_is_not_the_users(tmp_path):
    installed = tmp_path / ".venv" / "lib" / "site-packages"
    installed.mkdir(parents=True)
    (installed / "fitting.py").write_text("def fit(loss, scores, y):\n    loss(scores, y).backward()\n")
    program = HEAD + BY_HAND.replace("LAST", "scores").replace("loss.backward()", "fit(bce, torch.sigmoid(out), y)")
    begin = f"import sys\nsys.path.append({str(installed)!r})\nfrom fitting import fit\n"
    program = begin + program.replace("opt = ", "bce = F.binary_cross_entropy_with_logits\nopt = ")
    (tmp_path / "train.py").write_text(program)
    told = [(int(line), slug) for line, slug in findings(tmp_path, "--no-source", "--no-deep")]
    line = next(n for n, text in enumerate(program.splitlines(), 1) if "fit(bce" in text)
    assert told == [(line, "sigmoid-before-bce-with-logits")]
