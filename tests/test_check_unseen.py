"""Programs as users write them, one trap each and its mended twin: the marked lines, and nothing else, are found."""

import re

import pytest

from torchlore.check import engine
from torchlore.cli.check import all_rules

PROGRAMS = """\
=== the closure of LBFGS adds up
import torch
from torch import nn
model = nn.Linear(2, 1)
t = torch.linspace(0, 1, 20).unsqueeze(1).repeat(1, 2)
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=10)
other = torch.optim.SGD(model.parameters(), lr=0.5)
def closure():
    loss = (model(t) - 1).pow(2).mean()
    loss.backward()  # trap: missing-zero-grad
    return loss
def zeroed():
    optimizer.zero_grad()
    loss = (model(t) - 1).pow(2).mean()
    loss.backward()
    return loss
def zeroed_outside():
    loss = (model(t) - 1).pow(2).mean()
    loss.backward()
    return loss
for epoch in range(15):
    optimizer.step(closure)
for epoch in range(15):
    optimizer.step(zeroed)
for epoch in range(15):
    other.zero_grad()
    other.step(zeroed_outside)
=== tokens as a map
import torch
from torch import nn
class Segmenter(nn.Module):
    def __init__(self, patch=4, dim=24):
        super().__init__()
        self.grid = 4
        self.embed = nn.Conv2d(3, dim, patch, stride=patch)
        self.block = nn.TransformerEncoderLayer(dim, 3, 48, batch_first=True)
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Conv2d(dim, 3, 1)
    def forward(self, x):
        t = self.embed(x).flatten(2).transpose(1, 2)
        t = self.norm(self.block(t))
        wrong = t.reshape(x.shape[0], t.shape[-1], self.grid, self.grid)  # trap: view-as-transpose
        right = t.transpose(1, 2).reshape(x.shape[0], t.shape[-1], self.grid, self.grid)
        last = t.view(x.shape[0], self.grid, self.grid, -1).permute(0, 3, 1, 2)
        return self.head(wrong) + self.head(right) + self.head(last)
print(Segmenter()(torch.rand(2, 3, 16, 16)).shape)
=== steps stacked first
import torch
from torch import nn
class Tagger(nn.Module):
    def __init__(self, size=16):
        super().__init__()
        self.size = size
        self.cell = nn.GRUCell(6, size)
        self.tag = nn.Linear(size, 3)
    def forward(self, x):
        rows, steps, _ = x.shape
        h = x.new_zeros(rows, self.size)
        outputs = []
        for t in range(steps):
            h = self.cell(x[:, t], h)
            outputs.append(h)
        wrong = torch.stack(outputs).view(rows, steps, self.size)  # trap: view-as-transpose
        worse = torch.cat(outputs, 0).view(rows, steps, -1)  # trap: view-as-transpose
        right = torch.cat(outputs, 1).view(rows, steps, -1)
        first = torch.stack(outputs).view(steps, rows, self.size)
        return self.tag(wrong + worse + right), self.tag(first)
print(Tagger()(torch.rand(2, 5, 6))[0].shape)
=== rows repeated in another order
import torch
from torch import nn
class Ranker(nn.Module):
    def __init__(self, dim=12):
        super().__init__()
        self.user, self.item = nn.Linear(6, dim), nn.Linear(8, dim)
    def forward(self, users, candidates):
        n, k, _ = candidates.shape
        v = self.item(candidates.reshape(n * k, -1))
        wrong = self.user(users).repeat(k, 1)  # trap: view-as-transpose
        right = self.user(users).repeat_interleave(k, dim=0)
        turned = self.user(users).repeat(k, 1)
        other = (turned * v.view(n, k, -1).transpose(0, 1).reshape(n * k, -1)).sum(-1).view(k, n)
        return (wrong * v).sum(-1).view(n, k) + (right * v).sum(-1).view(n, k) + other.t()
print(Ranker()(torch.rand(4, 6), torch.rand(4, 3, 8)).shape)
=== the flag on a loss without history
import torch
from torch import nn
class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(10, 1)
    def forward(self, x):
        return self.fc(x)
    def predict(self, x):
        with torch.no_grad():
            out = self.forward(x)
        return out.squeeze(-1)
    def score(self, x):
        return self.forward(x).squeeze(-1)
net = Scorer()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(3):
    x, y = torch.randn(8, 10), torch.randn(8)
    loss = nn.functional.mse_loss(net.predict(x), y)
    loss.requires_grad = True  # trap: loss-rewrapped
    opt.zero_grad()
    loss.backward()
    opt.step()
    fine = nn.functional.mse_loss(net.score(x), y)
    opt.zero_grad()
    fine.backward()
    opt.step()
=== the best sample of each class, in a method
import torch
from torch import nn
class Meter:
    def __init__(self):
        self.hits = 0
    def update(self, logits, target):
        _, guess = torch.max(logits.data, 0)  # trap: argmax-over-the-batch
        self.hits += (guess == target).sum().item()
    def right(self, logits, target):
        _, guess = torch.max(logits.data, 1)
        self.hits += (guess == target).sum().item()
model = nn.Linear(8, 5)
x, y = torch.randn(200, 8), torch.randint(0, 5, (200,))
meter = Meter()
with torch.no_grad():
    for i in range(0, 200, 5):
        meter.update(model(x[i:i + 5]), y[i:i + 5])
        meter.right(model(x[i:i + 5]), y[i:i + 5])
=== a teacher that still drops
import torch
from torch import nn
import torch.nn.functional as F
def net(width):
    return nn.Sequential(nn.Linear(8, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(0.5), nn.Linear(width, 4))
def distil(teacher, student, batches, T=3.0):
    opt = torch.optim.Adam(student.parameters(), lr=1e-3)
    for x, y in batches:
        with torch.no_grad():
            soft = F.softmax(teacher(x) / T, dim=1)  # trap: frozen-network-in-train-mode
        logits = student(x)
        loss = F.kl_div(F.log_softmax(logits / T, dim=1), soft, reduction="batchmean") * T * T + F.cross_entropy(logits, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
distil(net(32), net(8), [(torch.randn(4, 8), torch.randint(0, 4, (4,)))])
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
