"""What a run shows of whole scripts that were written before anyone looked: each trap told once, by the note that names its cause."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

HEAD = """
import copy
import torch
from torch import nn, optim
from torch.nn import functional as F

torch.manual_seed(0)
"""
STEP = """
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
ATTENTION = (
    """
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.ModuleList(nn.Linear(16, 16) for _ in range(3))

    def heads(self, t):
        return HEADS

    def forward(self, x):
        q, k, v = (self.heads(one(x)) for one in self.qkv)
        return (q @ k.transpose(-2, -1)).softmax(-1) @ v

net = nn.Sequential(Attention(), nn.Flatten(), nn.Linear(96, 2))
opt = optim.Adam(net.parameters(), 1e-3)
for _ in range(4):
    loss = F.cross_entropy(net(torch.randn(8, 6, 16)), torch.randint(0, 2, (8,)))
"""
    + STEP
)
DROPS = (
    """
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def forward(self, x):
        h = self.inner(x)
        return F.scaled_dot_product_attention(h, h, h, dropout_p=SHARE).mean(1)

net = Attention()
opt = optim.Adam(net.parameters(), 1e-3)
for _ in range(12):
    net.train()
    loss = F.cross_entropy(net(torch.randn(8, 3, 4)), torch.randint(0, 4, (8,)))
"""
    + STEP
    + """
net.eval()
with torch.no_grad():
    print(net(torch.randn(8, 3, 4)).argmax(1))  # one forward is the whole evaluation
"""
)
AVERAGED = (
    """
net = nn.Linear(4, 2)
kept = copy.deepcopy(net).requires_grad_(False)
opt = optim.Adam(net.parameters(), 1e-3)
for _ in range(30):
    loss = F.cross_entropy(net(torch.randn(8, 4)), torch.randint(0, 2, (8,)))
"""
    + STEP
    + """
    for t, p in zip(kept.parameters(), net.parameters()):
        t.data = OLD * t.data + NEW * p.data
"""
)
WORDS = (
    """
class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.word, self.place, self.last = nn.Embedding(20, 8), nn.Embedding(6, 8), nn.Linear(8, 20)

    def forward(self, ids):
        return self.last(self.word(ids) + self.place(torch.arange(ids.size(1))))

net = Words()
opt = optim.Adam(net.parameters(), 1e-3)
for _ in range(12):
    text = torch.randint(0, 20, (8, 7))
    loss = F.cross_entropy(net(text[:, :-1]).flatten(0, 1), TARGET.flatten())
"""
    + STEP
)
SUMS = """
class Meter:
    def __init__(self):
        self.sums = {}

    def add(self, name, value):
        self.sums[name] = self.sums.get(name, 0.0) + value

class Fit:
    def __init__(self):
        self.net, self.meter = nn.Linear(4, 4), Meter()
        self.opt = optim.Adam(self.net.parameters(), 1e-3)

    def step(self):
        out = self.net(torch.randn(8, 4))
        size = out.abs().mean()
        loss = out.pow(2).mean() + 0.1 * size
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.meter.add("size", VALUE)

fit = Fit()
for _ in range(40):
    fit.step()
"""
LOSSES = (
    """
net = nn.Linear(4, 1)
opt = optim.Adam(net.parameters(), 1e-3)
for _ in range(6):
    parts = [net(torch.randn(4)).pow(2).squeeze() for _ in range(3)]
    loss = JOINED
"""
    + STEP
)
BLIND = """
maker, judge = nn.Linear(4, 2), nn.Linear(2, 1)
first, second = optim.SGD(maker.parameters(), 0.1), optim.SGD(judge.parameters(), 0.1)

def made(n):
    with torch.set_grad_enabled(FOLLOWED):
        return maker(torch.randn(n, 4))

for _ in range(6):
    second.zero_grad()
    (judge(made(8).detach()).mean() - judge(torch.randn(8, 2)).mean()).backward()
    second.step()
    first.zero_grad()
    (-judge(made(8)).mean()).backward()
    first.step()
"""
FROZEN = (
    """
body, head = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8)), nn.Linear(8, 2)
net = nn.Sequential(body, nn.ReLU(), head)
opt = optim.Adam(net.parameters(), 1e-3)
for _ in range(10):
    loss = F.cross_entropy(net(torch.randn(8, 4)), torch.randint(0, 2, (8,)))
"""
    + STEP
    + """
body.requires_grad_(False)
opt = optim.Adam(head.parameters(), 1e-3)
for _ in range(40):
    net.train()
    MODE
    loss = F.cross_entropy(net(torch.randn(8, 4)), torch.randint(0, 2, (8,)))
"""
    + STEP
)
JUDGED = """
judge = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 1))
maker = nn.Linear(4, 2)
first, second = optim.SGD(maker.parameters(), 0.1), optim.SGD(judge.parameters(), 0.1)
for _ in range(8):
    judge.requires_grad_(True)
    second.zero_grad()
    (judge(maker(torch.randn(8, 4)).detach()).mean() - judge(torch.randn(8, 2)).mean()).backward()
    second.step()
    judge.requires_grad_(False)
    first.zero_grad()
    judge.eval()
    loss = -judge(maker(torch.randn(8, 4))).mean()
    judge.train()
    loss.backward()
    first.step()
"""
RESUMED = """
def net():
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 2))

student, teacher = net(), net().requires_grad_(False)
state = {name: value.clone() for name, value in student.state_dict().items()}
student.load_state_dict(state)
teacher.load_state_dict(state)
opt = optim.Adam(student.parameters(), 1e-3)
for _ in range(12):
    x = torch.randn(8, 4)
    out = student(x)
    with torch.no_grad():
        goal = teacher(x + 0.1 * torch.randn_like(x)).softmax(1)
    loss = F.mse_loss(out.softmax(1), goal) + F.cross_entropy(out, (x[:, 0] > 0).long())
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for t, s in zip(teacher.parameters(), student.parameters()):
            t.lerp_(s, 0.05)
"""
COUNTED = """
net = nn.Linear(4, 2)
correct = torch.zeros((), dtype=torch.KIND)
with torch.no_grad():
    for _ in range(20):
        correct += (net(torch.randn(50, 4)).argmax(1) >= 0).sum()
print(correct.item())
"""
DIGITS = """
net = nn.Linear(4, 1).double()
opt = optim.LBFGS(net.parameters())
for _ in range(3):
    def closure():
        opt.zero_grad()
        loss = net(torch.ones(2, 4, dtype=torch.float64)).pow(2).mean()
        loss.backward()
        return loss
    opt.step(closure)
"""
WRITTEN = """
net = nn.Linear(4, 4)
for i in range(4):
    with torch.no_grad():
        net.bias[i] += 1e-3  # a view whose graph cannot be asked for
"""
LOADED = """
saved = torch.compile(nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2)), backend="eager")
nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2)).load_state_dict(saved.state_dict(), strict=False)
"""


@pytest.mark.parametrize(
    ("program", "told"),
    [
        (ATTENTION.replace("HEADS", "t.view(len(t), 4, 6, 4)"), "view-as-transpose: .*several words"),
        (ATTENTION.replace("HEADS", "t.view(len(t), 6, 4, 4).transpose(1, 2)"), ""),
        (DROPS.replace("SHARE", "0.2"), "functional-dropout-always-on: `F.scaled_dot_product_attention`"),
        (DROPS.replace("SHARE", "0.2 if self.training else 0.0"), ""),
        (AVERAGED.replace("OLD", "0.05").replace("NEW", "0.95"), "ema-decay-swapped: .*0.95"),
        (AVERAGED.replace("OLD", "0.95").replace("NEW", "0.05"), ""),
        (WORDS.replace("TARGET", "text[:, :-1]"), "targets-not-shifted"),
        (WORDS.replace("TARGET", "text[:, 1:]"), ""),
        (SUMS.replace("VALUE", "size"), r"accumulate-loss-with-graph: `\w+.meter.sums`"),
        (SUMS.replace("VALUE", "size.item()"), ""),
        (LOSSES.replace("JOINED", "torch.tensor(parts, requires_grad=True).mean()"), "loss-rewrapped: .*torch.stack"),
        (LOSSES.replace("JOINED", "torch.stack(parts).mean()"), ""),
        (BLIND.replace("FOLLOWED", "False"), "optimizer-sees-no-gradient: .*`Linear` ran without gradients here"),
        (BLIND.replace("FOLLOWED", "True"), ""),
        (FROZEN.replace("MODE", "pass"), "frozen-batchnorm-still-updates: .*`0.1`"),
        (FROZEN.replace("MODE", "body.eval()"), ""),
        (JUDGED, ""),  # a critic that judges in eval mode while the generator steps
        (RESUMED, ""),  # a mean teacher that was loaded
        (COUNTED.replace("KIND", "bfloat16"), "count-in-half-precision: .*256 . 1 is 256"),
        (COUNTED.replace("KIND", "float32"), ""),
        (WRITTEN, ""),
        (DIGITS, ""),  # digits that a line search needs
        (LOADED, "strict-false-unchecked: .*take `_orig_mod.` off"),
    ],
)
def test_the_cause_is_told_alone(tmp_path, program, told):
    (tmp_path / "train.py").write_text(HEAD + program)
    done = subprocess.run(
        [sys.executable, "-m", "torchlore", "watch", "--no-source", "train.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert "switched off" not in done.stderr
    found = re.findall(r"^train\.py:\d+: \w+ (.*)$", done.stderr, re.MULTILINE)
    assert len(found) == bool(told), found
    assert not told or re.match(told, found[0]), found
