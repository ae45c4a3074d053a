"""Traps as issues and pull requests of public projects tell of them, retold: the marked lines are found, and no other."""

import re

import pytest

from torchlore.check import engine
from torchlore.cli.check import all_rules

PROGRAMS = """\
=== method-not-called
import torch
from torch import nn
def random_weight(shape):
    return torch.randn(shape) * 0.05
def init_weights(m):
    if isinstance(m, nn.Linear):
        m.weight.data.copy_ = random_weight(m.weight.size())  # trap: method-not-called
        m.bias.data.zero_()
model = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 2))
model.apply(init_weights)
print(model(torch.randn(4, 10)))
=== twin-starts-apart
import copy
import torch
from torch import nn
model = nn.Linear(10, 2)
shadow = {k: torch.zeros_like(v) for k, v in model.state_dict().items()}  # trap: twin-starts-apart
decay = 0.999
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(100):
    x = torch.randn(8, 10)
    loss = (model(x) - x[:, :2]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for k, v in model.state_dict().items():
            shadow[k].mul_(decay).add_(v, alpha=1 - decay)
ema = copy.deepcopy(model)
ema.load_state_dict(shadow)
ema.eval()
print(ema(torch.randn(2, 10)))
=== deviation-for-variance
import torch
from torch import nn
import torch.nn.functional as F
class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(20, 16)
        self.mu = nn.Linear(16, 4)
        self.logvar = nn.Linear(16, 4)
        self.dec = nn.Linear(4, 20)
    def forward(self, x):
        h = torch.relu(self.enc(x))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return self.dec(z), mu, logvar
def loss_fn(recon, x, mu, logvar):
    rec = F.mse_loss(recon, x, reduction="sum") / x.size(0)
    kl = 0.5 * torch.mean(mu.pow(2) + logvar.pow(2) - torch.log(logvar.pow(2) + 1e-8) - 1)  # trap: deviation-for-variance
    return rec + kl
model = VAE()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for _ in range(100):
    x = torch.randn(32, 20)
    recon, mu, logvar = model(x)
    loss = loss_fn(recon, x, mu, logvar)
    opt.zero_grad()
    loss.backward()
    opt.step()
=== dataset-changed-in-place
import numpy as np
import torch
from torch.utils.data import Dataset, DataLoader
class Cifar(Dataset):
    def __init__(self, images, labels):
        self.images = images.astype(np.float32)
        self.labels = labels
        self.mean = np.array([0.4, 0.4, 0.4], dtype=np.float32)
        self.std = np.array([0.2, 0.2, 0.2], dtype=np.float32)
    def _prepare(self, im):
        for c in range(3):
            im[c] = (im[c] / 255.0 - self.mean[c]) / self.std[c]
        return im
    def __getitem__(self, i):
        im = self._prepare(self.images[i])  # trap: dataset-changed-in-place
        return torch.from_numpy(im), self.labels[i]
    def __len__(self):
        return len(self.images)
ds = Cifar(np.random.randint(0, 255, (64, 3, 8, 8)), np.random.randint(0, 10, 64))
for epoch in range(3):
    for x, y in DataLoader(ds, batch_size=16, shuffle=True):
        print(x.mean())
=== last-batch-for-the-epoch
import torch
from torch import nn
def evaluate(model, loader):
    model.eval()
    with torch.no_grad():
        for x, y in loader:
            out = model(x)
            pred = out.argmax(1)
            correct = (pred == y).sum().item()  # trap: last-batch-for-the-epoch
            total = y.size(0)
    return correct / total
data = torch.utils.data.TensorDataset(torch.randn(100, 4), torch.randint(0, 2, (100,)))
loader = torch.utils.data.DataLoader(data, batch_size=32)
print(evaluate(nn.Linear(4, 2), loader))
=== order-lost-by-shuffling
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
teacher = nn.Linear(10, 3).eval()
student = nn.Linear(10, 3)
data = TensorDataset(torch.randn(96, 10), torch.randint(0, 3, (96,)))
loader = DataLoader(data, batch_size=32, shuffle=True)
def teacher_outputs(loader):
    outs = []
    with torch.no_grad():
        for x, _ in loader:
            outs.append(teacher(x))
    return outs
opt = torch.optim.SGD(student.parameters(), lr=0.1)
soft = teacher_outputs(loader)
for epoch in range(3):
    for i, (x, y) in enumerate(loader):
        target = soft[i]  # trap: order-lost-by-shuffling
        logits = student(x)
        loss = F.kl_div(F.log_softmax(logits, 1), F.softmax(target, 1), reduction="batchmean") + F.cross_entropy(logits, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
=== learning-rate-zero
import argparse
import torch
from torch import nn
from torch.optim.lr_scheduler import StepLR
parser = argparse.ArgumentParser()
parser.add_argument("--schedule", action="store_true")
args = parser.parse_args()
model = nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
if args.schedule:
    scheduler = StepLR(optimizer, step_size=10, gamma=0.2)
else:
    scheduler = StepLR(optimizer, step_size=10, gamma=0)  # trap: learning-rate-zero
for epoch in range(50):
    x = torch.randn(16, 4)
    loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
=== module-in-no-optimizer
import torch
from torch import nn
class Tracker(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Conv2d(3, 8, 3, padding=1)
        self.down = nn.Conv2d(8, 4, 1)
        self.car_head = nn.Conv2d(4, 1, 1)
    def forward(self, x):
        return self.car_head(self.down(torch.relu(self.backbone(x))))
def build_opt(model, lr):
    trainable_params = []
    trainable_params += [{"params": filter(lambda p: p.requires_grad, model.backbone.parameters()), "lr": lr * 0.1}]
    trainable_params += [{"params": model.car_head.parameters(), "lr": lr}]
    return torch.optim.SGD(trainable_params, momentum=0.9, weight_decay=1e-4)  # trap: module-in-no-optimizer
model = Tracker()
optimizer = build_opt(model, 0.01)
for _ in range(10):
    x = torch.randn(2, 3, 16, 16)
    loss = (model(x) - x.mean(1, keepdim=True)).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
=== view-as-transpose
import torch
from torch import nn
class AV(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 8, 5, padding=2)
        self.lstm = nn.LSTM(8 * 257, 64, batch_first=True)
        self.fc = nn.Linear(64, 257)
    def forward(self, spec):
        b, c, t, f = spec.shape
        out = torch.relu(self.conv(spec))
        out = out.view(b, t, -1)  # trap: view-as-transpose
        out, _ = self.lstm(out)
        return self.fc(out)
net = AV()
print(net(torch.randn(2, 2, 30, 257)).shape)
=== batch-first-forgotten
import torch
from torch import nn
class Decoder(nn.Module):
    def __init__(self, n_in=16, hidden=32, n_out=5):
        super().__init__()
        self.lstm = nn.LSTM(n_in, hidden)  # trap: batch-first-forgotten
        self.fc = nn.Linear(hidden, n_out)
    def forward(self, x):
        outs = []
        state = None
        for t in range(x.size(1)):
            step = x[:, t, :].unsqueeze(1)
            out, state = self.lstm(step, state)
            outs.append(out)
        return self.fc(torch.cat(outs, dim=1))
dec = Decoder()
x = torch.randn(8, 20, 16)
y = torch.randint(0, 5, (8, 20))
opt = torch.optim.Adam(dec.parameters())
for _ in range(10):
    loss = nn.functional.cross_entropy(dec(x).transpose(1, 2), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
=== schedulers-not-chained
import torch
from torch import nn
from torch.optim.lr_scheduler import MultiStepLR, ExponentialLR
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = MultiStepLR(optimizer, milestones=[3, 6, 9], gamma=0.1)
scheduler = ExponentialLR(optimizer, gamma=0.95)  # trap: schedulers-not-chained
for epoch in range(12):
    x = torch.randn(16, 4)
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
=== last-step-of-two-directions
import torch
from torch import nn
class Enc(nn.Module):
    def __init__(self, vocab=50, emb=16, hid=32):
        super().__init__()
        self.emb = nn.Embedding(vocab, emb)
        self.lstm = nn.LSTM(emb, hid, num_layers=2, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(2 * hid, 3)
    def forward(self, ids):
        out, (h, c) = self.lstm(self.emb(ids))
        last = torch.cat([h[0], h[1]], dim=1)  # trap: last-step-of-two-directions
        return self.fc(last)
enc = Enc()
print(enc(torch.randint(0, 50, (4, 7))).shape)
=== softmax-over-queries
import torch
from torch import nn
class Attn(nn.Module):
    def __init__(self, c, heads=4):
        super().__init__()
        self.heads, self.d = heads, c // heads
        self.proj = nn.Linear(c, 3 * c)
        self.out = nn.Linear(c, c)
    def forward(self, x):
        b, n, c = x.shape
        qkv = self.proj(x).view(b, n, self.heads, 3 * self.d)
        q, k, v = torch.chunk(qkv, 3, dim=-1)
        attn = torch.einsum("bihd,bjhd->bijh", q, k) * self.d ** -0.5
        attn = attn.softmax(dim=1)  # trap: softmax-over-queries
        res = torch.einsum("bijh,bjhd->bihd", attn, v)
        return self.out(res.reshape(b, n, c))
print(Attn(32)(torch.randn(2, 5, 32)).shape)
=== terminal-state-bootstrapped
import torch
from torch import nn
class Agent:
    def __init__(self):
        self.model, self.target_model = nn.Linear(4, 1), nn.Linear(4, 1)
        self.target_model.load_state_dict(self.model.state_dict())
        self.opt = torch.optim.Adam(self.model.parameters())
        self.gamma = 0.99
    def update(self, state, reward, next_state, mask):
        with torch.no_grad():
            next_values = self.target_model(next_state)
        expected = reward + (self.gamma * mask + next_values)  # trap: terminal-state-bootstrapped
        loss = nn.functional.mse_loss(self.model(state), expected)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
a = Agent()
a.update(torch.randn(8, 4), torch.randn(8, 1), torch.randn(8, 4), torch.ones(8, 1))
=== state-dict-alias
import copy
import torch
from torch import nn
model = nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.01)
best, best_state, wait = float("inf"), None, 0
xv = torch.randn(64, 4)
for epoch in range(100):
    x = torch.randn(32, 4)
    loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    model.eval()
    with torch.no_grad():
        val = (model(xv) - xv.sum(1, keepdim=True)).pow(2).mean().item()
    model.train()
    if val < best:
        best, wait = val, 0
        best_state = model.state_dict().copy()  # trap: state-dict-alias
    else:
        wait += 1
        if wait > 5:
            model.load_state_dict(best_state)
            break
=== module-in-no-optimizer
import itertools
import torch
from torch import nn
g_ab, g_ba = nn.Linear(8, 8), nn.Linear(8, 8)
d_a, d_b = nn.Linear(8, 1), nn.Linear(8, 1)
opt_g = torch.optim.Adam(itertools.chain(g_ab.parameters(), g_ab.parameters()), lr=2e-4)  # trap: module-in-no-optimizer
opt_d = torch.optim.Adam(itertools.chain(d_a.parameters(), d_b.parameters()), lr=2e-4)
mse, l1 = nn.MSELoss(), nn.L1Loss()
for _ in range(10):
    a, b = torch.randn(4, 8), torch.randn(4, 8)
    fake_b, fake_a = g_ab(a), g_ba(b)
    loss_g = mse(d_b(fake_b), torch.ones(4, 1)) + mse(d_a(fake_a), torch.ones(4, 1)) + 10 * (l1(g_ba(fake_b), a) + l1(g_ab(fake_a), b))
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    loss_d = mse(d_a(a), torch.ones(4, 1)) + mse(d_a(fake_a.detach()), torch.zeros(4, 1))
    loss_d = loss_d + mse(d_b(b), torch.ones(4, 1)) + mse(d_b(fake_b.detach()), torch.zeros(4, 1))
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()
=== clean
import copy
import torch
from torch import nn
from torch.optim.lr_scheduler import ExponentialLR, StepLR
class Trainer:
    def __init__(self, model):
        self.model = model
        self.zero_ = 0
        self.optimizer = torch.optim.AdamW(model.parameters())
        scheduler = StepLR(self.optimizer, step_size=5, gamma=1.0)
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = ExponentialLR(self.optimizer, gamma=0.9)
        self.scheduler = scheduler
        self.moments = {name: torch.zeros_like(p) for name, p in model.named_parameters()}
    def momentum(self):
        for name, p in self.model.named_parameters():
            self.moments[name].mul_(0.9).add_(p.grad, alpha=0.1)
    def evaluate(self, loader):
        self.model.eval()
        with torch.no_grad():
            for x, y in loader:
                hits = (self.model(x).argmax(1) == y).float().mean().item()
                print(hits)
    def fit(self, loader, epochs=3):
        best, state = float("inf"), None
        for _ in range(epochs):
            for x, y in loader:
                loss = nn.functional.cross_entropy(self.model(x), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            self.scheduler.step()
            if loss.item() < best:
                best, state = loss.item(), copy.deepcopy(self.model.state_dict())
            else:
                self.model.load_state_dict(state)
=== clean
import torch
from torch import nn
class Reader(nn.Module):
    def __init__(self, words=50, hid=32):
        super().__init__()
        self.emb = nn.Embedding(words, 16)
        self.deep = nn.LSTM(16, hid, num_layers=2, bidirectional=True, batch_first=True)
        self.flat = nn.LSTM(16, hid, bidirectional=True, batch_first=True)
        self.step = nn.LSTM(16, hid, batch_first=True)
        self.one = nn.LSTM(16, hid)
        self.conv = nn.Conv2d(2, 8, 5, padding=2)
    def forward(self, ids):
        x = self.emb(ids)
        h = self.deep(x)[1][0]
        g = self.flat(x)[1][0]
        return torch.cat([h[-2], h[-1]], dim=1), torch.cat([g[0], g[1]], dim=1)
    def stepwise(self, x):
        state = None
        for t in range(x.size(1)):
            out, state = self.step(x[:, t].unsqueeze(1), state)
        return out
    def each_sample(self, x):
        return [self.one(x[:, i].unsqueeze(1))[0] for i in range(x.size(1))]
    def frames(self, spec):
        b, c, t, f = spec.shape
        out = self.conv(spec)
        return out.permute(0, 2, 1, 3).reshape(b, t, -1), out.view(b, -1, t, f)
def attend(q, k, v, mask):
    scores = torch.einsum("bihd,bjhd->bijh", q, k).softmax(dim=2)
    return torch.einsum("bijh,bjhd->bihd", scores, v) * mask
def target(reward, gamma, mask, next_values):
    return reward + gamma * mask * next_values
def kl(mu, logvar):
    return 0.5 * (mu.pow(2) + logvar.exp() - logvar - 1).sum(1).mean()
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
