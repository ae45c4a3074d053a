"""Other spellings of the traps in test_check_unseen, and each of them mended."""

import re

import pytest

from torchlore.check import engine
from torchlore.cli.check import all_rules

PROGRAMS = """\
=== tokens that an attention gave, as a map
import torch
from torch import nn
class A(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.att = nn.MultiheadAttention(c, 2, batch_first=True)
    def forward(self, x):
        B, C, H, W = x.shape
        t = x.view(B, C, -1).permute(0, 2, 1)
        t = self.att(t, t, t)[0]
        return x + t.view(B, C, H, W)  # trap: view-as-transpose
=== tokens that an attention gave, as a map, mended
import torch
from torch import nn
class A(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.att = nn.MultiheadAttention(c, 2, batch_first=True)
    def forward(self, x):
        B, C, H, W = x.shape
        t = x.view(B, C, -1).permute(0, 2, 1)
        t = self.att(t, t, t)[0]
        return x + t.permute(0, 2, 1).view(B, C, H, W)
=== normalised tokens as a map
import torch
from torch import nn
class A(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.n = nn.LayerNorm(c)
    def forward(self, x):
        B, C, H, W = x.shape
        t = self.n(x.view(B, C, H * W).transpose(1, 2))
        return x + t.reshape(B, C, H, W)  # trap: view-as-transpose
=== normalised tokens as a map, mended
import torch
from torch import nn
class A(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.n = nn.LayerNorm(c)
    def forward(self, x):
        B, C, H, W = x.shape
        t = self.n(x.view(B, C, H * W).transpose(1, 2))
        return x + t.transpose(1, 2).reshape(B, C, H, W)
=== steps stacked under a name
import torch
from torch import nn
class A(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(4, 8)
    def forward(self, x):
        outs = []
        h = c = torch.zeros(x.size(0), 8)
        for t in range(x.size(1)):
            h, c = self.cell(x[:, t], (h, c))
            outs.append(h)
        outs = torch.stack(outs)
        return outs.view(x.size(0), x.size(1), -1)  # trap: view-as-transpose
=== steps stacked under a name, mended
import torch
from torch import nn
class A(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(4, 8)
    def forward(self, x):
        outs = []
        h = c = torch.zeros(x.size(0), 8)
        for t in range(x.size(1)):
            h, c = self.cell(x[:, t], (h, c))
            outs.append(h)
        outs = torch.stack(outs)
        return outs.transpose(0, 1)
=== repeated rows of a decoder
import torch
from torch import nn
def score(dec, z, k):
    b = z.size(0)
    zz = z.repeat(k, 1)  # trap: view-as-transpose
    out = dec(zz)
    return out.view(b, k, -1).mean(1)
=== repeated rows of a decoder, mended
import torch
from torch import nn
def score(dec, z, k):
    b = z.size(0)
    zz = z.repeat_interleave(k, 0)
    out = dec(zz)
    return out.view(b, k, -1).mean(1)
=== a closure in a method
import torch
from torch import nn
class Fit:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.LBFGS(net.parameters())
    def fit(self, x, y):
        for _ in range(10):
            def closure():
                loss = nn.functional.mse_loss(self.net(x), y)
                loss.backward()  # trap: missing-zero-grad
                return loss
            self.optimizer.step(closure)
=== a closure in a method, mended
import torch
from torch import nn
class Fit:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.LBFGS(net.parameters())
    def fit(self, x, y):
        for _ in range(10):
            def closure():
                self.optimizer.zero_grad()
                loss = nn.functional.mse_loss(self.net(x), y)
                loss.backward()
                return loss
            self.optimizer.step(closure)
=== zeroed before the step, not in the closure
import torch
from torch import nn
net = nn.Linear(3, 1)
opt = torch.optim.LBFGS(net.parameters(), lr=0.1, max_iter=20)
x, y = torch.randn(10, 3), torch.randn(10, 1)
def closure():
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()  # trap: missing-zero-grad
    return loss
for i in range(5):
    opt.zero_grad()
    opt.step(closure)
=== zeroed before the step, not in the closure, mended
import torch
from torch import nn
net = nn.Linear(3, 1)
opt = torch.optim.LBFGS(net.parameters(), lr=0.1, max_iter=20)
x, y = torch.randn(10, 3), torch.randn(10, 1)
def closure():
    opt.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    return loss
for i in range(5):
    opt.step(closure)
=== a trainer's scheduler behind its loop
import torch
from torch import nn
class T:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1)
        self.sched = torch.optim.lr_scheduler.StepLR(self.opt, 3)
    def fit(self, data, epochs):
        for epoch in range(epochs):
            for x, y in data:
                self.opt.zero_grad()
                nn.functional.mse_loss(self.net(x), y).backward()
                self.opt.step()
        self.sched.step()  # trap: scheduler-never-stepped
T(nn.Linear(2, 1)).fit([(torch.randn(4, 2), torch.randn(4, 1))], 10)
=== a trainer's scheduler behind its loop, mended
import torch
from torch import nn
class T:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1)
        self.sched = torch.optim.lr_scheduler.StepLR(self.opt, 3)
    def fit(self, data, epochs):
        for epoch in range(epochs):
            for x, y in data:
                self.opt.zero_grad()
                nn.functional.mse_loss(self.net(x), y).backward()
                self.opt.step()
            self.sched.step()
T(nn.Linear(2, 1)).fit([(torch.randn(4, 2), torch.randn(4, 1))], 10)
=== a sum of weights as a penalty
import torch
from torch import nn
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(5):
    loss = net(torch.randn(4, 3)).pow(2).mean()
    l1 = sum(p.sum() for p in net.parameters())  # trap: penalty-on-data
    loss = loss + 1e-4 * l1
    opt.zero_grad()
    loss.backward()
    opt.step()
=== a sum of weights as a penalty, mended
import torch
from torch import nn
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(5):
    loss = net(torch.randn(4, 3)).pow(2).mean()
    l1 = sum(p.abs().sum() for p in net.parameters())
    loss = loss + 1e-4 * l1
    opt.zero_grad()
    loss.backward()
    opt.step()
=== a term that comes too late
import torch
from torch import nn
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(5):
    loss = net(torch.randn(4, 3)).pow(2).mean()
    reg = net.weight.abs().sum()
    opt.zero_grad()
    loss.backward()
    loss += 1e-4 * reg  # trap: term-never-used
    opt.step()
=== a term that comes too late, mended
import torch
from torch import nn
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(5):
    loss = net(torch.randn(4, 3)).pow(2).mean()
    reg = net.weight.abs().sum()
    loss += 1e-4 * reg
    opt.zero_grad()
    loss.backward()
    opt.step()
=== a trainer zeroes one of two modules
import torch
from torch import nn
class T:
    def __init__(self, net, head):
        self.net, self.head = net, head
        self.opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
    def fit(self, data):
        for x, y in data:
            self.net.zero_grad()  # trap: missing-zero-grad
            nn.functional.mse_loss(self.head(self.net(x)), y).backward()
            self.opt.step()
T(nn.Linear(2, 2), nn.Linear(2, 1)).fit([(torch.randn(4, 2), torch.randn(4, 1))])
=== a trainer zeroes one of two modules, mended
import torch
from torch import nn
class T:
    def __init__(self, net, head):
        self.net, self.head = net, head
        self.opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
    def fit(self, data):
        for x, y in data:
            self.opt.zero_grad()
            nn.functional.mse_loss(self.head(self.net(x)), y).backward()
            self.opt.step()
T(nn.Linear(2, 2), nn.Linear(2, 1)).fit([(torch.randn(4, 2), torch.randn(4, 1))])
=== a scheduler behind the loop of a script
import torch
from torch import nn
from torch.optim import lr_scheduler
net = nn.Linear(2, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
sched = lr_scheduler.StepLR(opt, step_size=2)
def epoch():
    for _ in range(3):
        loss = net(torch.randn(4, 2)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
for e in range(5):
    epoch()
sched.step()  # trap: scheduler-never-stepped
=== a scheduler behind the loop of a script, mended
import torch
from torch import nn
from torch.optim import lr_scheduler
net = nn.Linear(2, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
sched = lr_scheduler.StepLR(opt, step_size=2)
def epoch():
    for _ in range(3):
        loss = net(torch.randn(4, 2)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
for e in range(5):
    epoch()
    sched.step()
=== a number that the optimizer does not hear of
import torch
from torch import nn
lr = 0.1
net = nn.Linear(6, 1)
opt = torch.optim.SGD(net.parameters(), lr=lr)
for epoch in range(9):
    loss = net(torch.randn(8, 6)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 3 == 2:
        lr = lr * 0.1  # trap: lr-set-on-state-dict-copy
        print("learning rate", lr)
=== a number that is written into the groups
import torch
from torch import nn
lr = 0.1
net = nn.Linear(6, 1)
opt = torch.optim.SGD(net.parameters(), lr=lr)
for epoch in range(9):
    loss = net(torch.randn(8, 6)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 3 == 2:
        lr = lr * 0.1
        for group in opt.param_groups:
            group["lr"] = lr
=== a decay of gradients that were used already
import torch
from torch import nn
net = nn.Linear(10, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(100):
    loss = net(torch.randn(32, 10)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    for p in net.parameters():
        p.grad.add_(p.data, alpha=0.1)  # trap: clip-outside-backward-step
for step in range(100):
    loss = net(torch.randn(32, 10)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    for p in net.parameters():
        p.grad.add_(p.data, alpha=0.1)
    opt.step()
    print(net.weight.grad.norm())
=== the first of two groups is decayed
import torch
from torch import nn
net, head = nn.Linear(6, 6), nn.Linear(6, 1)
opt = torch.optim.SGD([{"params": net.parameters(), "lr": 0.1}, {"params": head.parameters(), "lr": 1.0}])
for epoch in range(9):
    loss = head(net(torch.randn(8, 6))).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    opt.param_groups[0]["lr"] *= 0.1  # trap: lr-set-on-state-dict-copy
=== columns that NumPy and pandas keep, against a row
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.seq = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
    def forward(self, x):
        return self.seq(x).squeeze(-1)
class Rows(Dataset):
    def __init__(self, df):
        self.x, self.y = df[["a", "b", "c", "d", "e"]].values, df[["y"]].values
    def __len__(self):
        return len(self.x)
    def __getitem__(self, i):
        return torch.tensor(self.x[i]).float(), torch.tensor(self.y[i]).float()
def compare(frame, x):
    net = Net()
    x = np.zeros((100, 5))
    y = x.sum(1).reshape(-1, 1)
    one = nn.functional.mse_loss(net(torch.tensor(x).float()), torch.tensor(y).float())  # trap: loss-broadcasts
    for a, b in DataLoader(Rows(pd.DataFrame(frame)), batch_size=4, shuffle=True):
        two = nn.functional.mse_loss(net(a), b)  # trap: loss-broadcasts
    y = x.mean(axis=1, keepdims=True)
    three = nn.functional.l1_loss(net(torch.tensor(x).float()), torch.from_numpy(y).float())  # trap: loss-broadcasts
    y = x.mean(axis=1)
    four = nn.functional.l1_loss(net(torch.tensor(x).float()), torch.from_numpy(y).float())
    return one, two, three, four
=== a target whose columns the net has too
import numpy as np
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.seq = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 3))
    def forward(self, x):
        return self.seq(x).squeeze(-1)
def compare():
    net, x = Net(), np.zeros((100, 5))
    y = x[:, :3]
    return nn.functional.mse_loss(net(torch.tensor(x).float()), torch.tensor(y).float())
=== a meter that keeps sums by name
from torch import nn
class Sums:
    def __init__(self):
        self.total = {}

    def add(self, **values):
        for key, value in values.items():
            self.total[key] = self.total.get(key, 0) + value


class Numbers:
    def __init__(self):
        self.total = {}

    def add(self, **values):
        for key, value in values.items():
            self.total[key] = self.total.get(key, 0) + float(value)


def with_sums(net, opt, batches):
    sums, numbers = Sums(), Numbers()
    for x, y in batches:
        loss = nn.functional.mse_loss(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sums.add(loss=loss)  # trap: accumulate-loss-with-graph
        numbers.add(loss=loss)
    return sums, numbers


with_sums(nn.Linear(2, 1), None, [])
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
