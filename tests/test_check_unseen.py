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
        one = torch.stack(outputs).view(1, steps, -1)
        return self.tag(wrong + worse + right), self.tag(first), one
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
=== perplexities averaged
import math
import torch
import torch.nn.functional as F
@torch.no_grad()
def perplexity(model, batches):
    model.eval()
    ppl, nll, seen, all_ppl = 0.0, 0.0, 0, []
    for x, y in batches:
        loss = F.cross_entropy(model(x), y)
        ppl += math.exp(loss.item())  # trap: score-averaged-over-batches
        all_ppl.append(torch.exp(loss).item())  # trap: score-averaged-over-batches
        nll += loss.item()
        seen += 1
    return ppl / seen, math.exp(nll / seen), all_ppl
=== a fresh network under no_grad, beside a copy to compare with
import torch
from torch import nn
class Captioner(nn.Module):
    def __init__(self):
        super().__init__()
        self.cnn = nn.Conv2d(1, 20, 3)
        self.out = nn.Linear(20, 15)
    def forward(self, img):
        with torch.no_grad():  # trap: trainable-layer-under-no-grad
            feat = self.cnn(img).mean((2, 3))
        return self.out(feat)
model = Captioner()
first = model.cnn.weight.detach().clone()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(60):
    loss = nn.functional.cross_entropy(model(torch.randn(4, 1, 8, 8)), torch.zeros(4, dtype=torch.long))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print((model.cnn.weight - first).norm())
=== parameters in neither group, and all in one
import torch
from torch import nn
def neither(model, rate):
    decay, rest = [], []
    for name, p in model.named_parameters():
        if p.ndim > 1:
            decay.append(p)
        elif name.endswith(".bias"):  # trap: decay-groups-swapped
            rest.append(p)
    return torch.optim.AdamW([{"params": decay, "weight_decay": rate}, {"params": rest, "weight_decay": 0.0}])
def both(model, rate):
    decay, rest = [], []
    for name, p in model.named_parameters():
        if p.ndim > 1:
            decay.append(p)
        elif name.endswith(".bias") or p.ndim == 1:
            rest.append(p)
    return torch.optim.AdamW([{"params": decay, "weight_decay": rate}, {"params": rest, "weight_decay": 0.0}])
def one_list(model, rate, needs):
    decay, rest, more = [], [], []
    for name, p in model.named_parameters():
        (decay if needs(name) else decay).append(p)  # trap: decay-groups-swapped
        (decay if needs(name) else rest).append(p)
        if p.ndim > 1:
            more.append(p)
        else:
            more.append(p)  # trap: decay-groups-swapped
    return [{"params": decay, "weight_decay": rate}, {"params": rest, "weight_decay": 0.0}, more]
print(nn.LayerNorm(4))
=== another network behind the optimizer of the constructor
import torch
from torch import nn
class Agent:
    def __init__(self):
        self.policy = nn.Linear(6, 3)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=1e-2)
        self.reset()
    def reset(self):
        self.policy = nn.Linear(6, 3)  # trap: optimizer-before-model-change
    def update(self, obs, target):
        loss = nn.functional.cross_entropy(self.policy(obs), target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
class Built:
    def __init__(self):
        self.build()
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=1e-2)
    def build(self):
        self.policy = nn.Linear(6, 3)
class Renewed:
    def __init__(self):
        self.policy = nn.Linear(6, 3)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=1e-2)
        self.reset()
    def reset(self):
        self.policy = nn.Linear(6, 3)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=1e-2)
for agent in (Agent(), Renewed(), Built()):
    print(agent)
=== padding in the loss, with masks for the layers and a figure that leaves it out
import torch
from torch import nn
import torch.nn.functional as F
PAD = 0
def train(model, opt, batches):
    for x, y in batches:
        logits = model(x, src_key_padding_mask=x == PAD)
        loss = F.cross_entropy(logits.view(-1, 6), y.view(-1))  # trap: padding-in-the-loss
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            print(F.cross_entropy(logits.view(-1, 6), y.view(-1), ignore_index=PAD))
def weighed(model, opt, batches):
    for x, y in batches:
        mask = (y != PAD).view(-1)
        loss = F.cross_entropy(model(x).view(-1, 6)[mask], y.view(-1)[mask])
        opt.zero_grad()
        loss.backward()
        opt.step()
=== patches that are pieces of rows
import torch
from torch import nn
import torch.nn.functional as F
class Patches(nn.Module):
    def __init__(self, p=4):
        super().__init__()
        self.p, self.n = p, 16
        self.embed = nn.Linear(p * p * 3, 8)
    def forward(self, x):
        wrong = x.reshape(x.size(0), self.n, self.p * self.p * 3)  # trap: view-as-transpose
        return self.embed(wrong) + self.embed(F.unfold(x, self.p, stride=self.p).transpose(1, 2))
print(Patches()(torch.randn(2, 3, 16, 16)).shape)
=== a penalty without a sign, and one that comes too late
import torch
from torch import nn
def l1(model, lam):
    total = torch.tensor(0.0)
    for p in model.parameters():
        total = total + p.sum()  # trap: penalty-on-data
    return lam * total
def right(model, lam):
    return lam * sum(p.abs().sum() for p in model.parameters())
model = nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.02)
x, y = torch.randn(10, 4), torch.randn(10, 1)
for step in range(40):
    loss = nn.functional.mse_loss(model(x), y) + l1(model, 0.05) + right(model, 0.05)
    loss = loss + 0 * sum(p.sum() for p in model.parameters())
    squares = sum(p.pow(2).sum() for p in model.parameters())
    opt.zero_grad()
    loss.backward()
    loss = loss + 0.01 * squares  # trap: term-never-used
    opt.step()
    print(loss.item())
=== defaults that nobody reads
import torch
from torch import nn
def set_decay(optimizer, value):
    optimizer.defaults["weight_decay"] = value  # trap: misspelt-setting
def set_both(optimizer, value):
    optimizer.defaults["weight_decay"] = value
    for group in optimizer.param_groups:
        group["weight_decay"] = value
set_both(torch.optim.AdamW(nn.Linear(2, 2).parameters()), 0.0)
set_decay(torch.optim.AdamW(nn.Linear(2, 2).parameters()), 0.0)
=== an attack that adds its gradients up
import torch
import torch.nn.functional as F
def attack(model, x, y, eps=0.3, alpha=0.05):
    delta = torch.zeros_like(x, requires_grad=True)
    for _ in range(10):
        loss = F.cross_entropy(model(x + delta), y)
        loss.backward()
        delta.data = (delta + alpha * delta.grad.sign()).clamp(-eps, eps)  # trap: missing-zero-grad
    return (x + delta).detach()
def right(model, x, y, eps=0.3, alpha=0.05):
    delta = torch.zeros_like(x, requires_grad=True)
    for _ in range(10):
        loss = F.cross_entropy(model(x + delta), y)
        loss.backward()
        delta.data = (delta + alpha * delta.grad.sign()).clamp(-eps, eps)
        delta.grad.zero_()
    return (x + delta).detach()
=== one of two modules is zeroed
import torch
from torch import nn
net, weigh, other = nn.Linear(6, 2), nn.Linear(2, 1), nn.Linear(6, 1)
optimizer = torch.optim.SGD(list(net.parameters()) + list(weigh.parameters()), lr=0.02)
single = torch.optim.SGD(other.parameters(), lr=0.02)
for step in range(100):
    x = torch.randn(32, 6)
    loss = weigh(net(x)).pow(2).mean()
    net.zero_grad()  # trap: missing-zero-grad
    loss.backward()
    optimizer.step()
for step in range(100):
    loss = other(torch.randn(32, 6)).pow(2).mean()
    other.zero_grad()
    loss.backward()
    single.step()
=== one loss is differentiated twice
import torch
from torch import nn
net = nn.Linear(6, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.02)
for step in range(100):
    out = net(torch.randn(32, 6))
    rec, kl = out.pow(2).mean(), out.abs().mean()
    opt.zero_grad()
    rec.backward(retain_graph=True)
    loss = rec + 0.1 * kl
    loss.backward()  # trap: loss-term-twice
    opt.step()
for step in range(100):
    out = net(torch.randn(32, 6))
    rec, kl = out.pow(2).mean(), out.abs().mean()
    opt.zero_grad()
    rec.backward(retain_graph=True)
    kl.backward()
    opt.step()
=== a list of layers handed in
import torch
from torch import nn
def make(sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers.append(nn.Linear(a, b))
    return layers
class Net(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.hidden = layers  # trap: modules-in-plain-container
    def forward(self, x):
        for layer in self.hidden:
            x = torch.relu(layer(x))
        return x
class Right(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.hidden = nn.ModuleList(layers)
    def forward(self, x):
        for layer in self.hidden:
            x = torch.relu(layer(x))
        return x
print(Net(make([6, 32, 32])), Right(make([6, 32])))
=== a mode that is not handed on
from torch import nn
class Stem(nn.Module):
    def train(self, mode=True):
        super().train()  # trap: module-train-overridden
        self.stem.eval()
        return self
class Right(nn.Module):
    def train(self, mode=True):
        super().train(mode)
        self.stem.eval()
        return self
=== a buffer that should learn
import torch
from torch import nn
class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("alpha", torch.zeros(1, requires_grad=True))  # trap: tensor-not-parameter
        self.register_buffer("beta", torch.zeros(1))
    def forward(self, x):
        return x * self.alpha + self.beta
=== gradients cut in forward
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.third = nn.Linear(12, 24), nn.Linear(24, 3), nn.Linear(3, 3)
    def forward(self, x):
        h = F.relu(self.first(x)).data  # trap: gradient-cut-on-the-way
        h = torch.tanh(self.second(h))
        h = torch.from_numpy(np.cumsum(h.detach().numpy(), axis=1))  # trap: gradient-cut-on-the-way
        return self.third(h)
net = Two()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(10):
    loss = F.cross_entropy(net(torch.randn(32, 12)), torch.zeros(32, dtype=torch.long))
    opt.zero_grad()
    loss.backward()
    opt.step()
=== a scheduler that is stepped once, behind the loop
import torch
from torch import nn
def main(epochs=12):
    net = nn.Linear(6, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.02)
    sched = torch.optim.lr_scheduler.StepLR(opt, 4)
    for epoch in range(epochs):
        loss = net(torch.randn(8, 6)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    sched.step()  # trap: scheduler-never-stepped
def right(epochs=12):
    net = nn.Linear(6, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.02)
    sched = torch.optim.lr_scheduler.StepLR(opt, 4)
    for epoch in range(epochs):
        loss = net(torch.randn(8, 6)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
main()
right()
=== weight norm behind the optimizer
import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm
class Vocoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.pre = nn.Conv1d(1, 16, 5, padding=2)
    def forward(self, x):
        return self.pre(x)
    def norm(self):
        weight_norm(self.pre)
net = Vocoder()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
net.norm()  # trap: optimizer-before-model-change
for step in range(50):
    loss = net(torch.randn(4, 1, 16)).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
=== time first, and layers that take the batch first
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
def collate(batch):
    seqs, labels = zip(*batch)
    return pad_sequence(seqs), torch.tensor(labels)  # trap: batch-first-forgotten
def right(batch):
    seqs, labels = zip(*batch)
    return pad_sequence(seqs, batch_first=True), torch.tensor(labels)
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(3, 16, batch_first=True)
    def forward(self, x):
        return self.rnn(x)[0]
=== channels made pixels by a view
import torch
from torch import nn
class Up(nn.Module):
    def __init__(self):
        super().__init__()
        self.expand = nn.Conv2d(1, 4, 3, padding=1)
    def forward(self, x):
        b, _, h, w = x.shape
        y = self.expand(x)
        right = y.view(b, 1, 2, 2, h, w).permute(0, 1, 4, 2, 5, 3).reshape(b, 1, h * 2, w * 2)
        return y.view(b, 1, h * 2, w * 2) + right  # trap: view-as-transpose
print(Up()(torch.rand(2, 1, 4, 4)).shape)
=== a penalty that is taken away
import torch
from torch import nn
def size(model):
    return sum((p**2).sum() for p in model.parameters())
model = nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.02)
for step in range(40):
    fit = model(torch.randn(8, 4)).pow(2).mean()
    loss = fit - 1e-2 * size(model)  # trap: penalty-on-data
    opt.zero_grad()
    loss.backward()
    opt.step()
    loss = model(torch.randn(8, 4)).pow(2).mean() + 1e-2 * size(model)
    opt.zero_grad()
    loss.backward()
    opt.step()
=== a count that is replaced
import torch
def score(net, loader):
    correct, seen, right = 0, 0, 0
    net.eval()
    with torch.no_grad():
        for x, y in loader:
            correct += (net(x).argmax(1) == y).sum().item()
            seen = y.size(0)  # trap: last-batch-for-the-epoch
            right += len(y)
    return correct / seen, correct / right
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


def test_a_folder_above_says_nothing_about_a_file(rules):
    program = """\
import torch
from torch import nn
def score(model, x, y):
    with torch.no_grad():
        return nn.functional.mse_loss(model(x), y).item()
model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.3), nn.Linear(8, 1))
opt = torch.optim.Adam(model.parameters())
x, y = torch.randn(8, 4), torch.randn(8, 1)
for epoch in range(5):
    loss = nn.functional.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(score(model, x, y))
"""
    found = [{one.slug for one in engine.check_text(program, rules, path)} for path in ("a.py", "/recall/a.py")]
    assert found[0] == found[1] == {"eval-mode-missing"}
