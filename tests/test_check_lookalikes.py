"""Traps and what looks like them: one text each, in which a word decides. Found in fresh repositories, written anew."""

import pytest

from torchlore.check import engine
from torchlore.cli import main

LINES = """
import torch

x = torch.rand(3, 3)
SHOW
x.unsqueeze(0)
x.to("cuda")
"""
BOTH = """
import torch

def train(net, loader, loss, each):
    opt = torch.optim.Adam(net.parameters())
    schedule = torch.optim.lr_scheduler.LambdaLR(opt, lambda step: min(1.0, (step + 1) / 400))
    for epoch in range(9):
        for x, y in loader:
            opt.zero_grad()
            loss(net(x), y).backward()
            opt.step()
            INNER
        OUTER
"""
TESTED = """
import torch

def main(net, opt, loader, loss, path, epochs):
    BEFORE
    for epoch in range(epochs):
        for x, y in loader:
            opt.zero_grad()
            loss(net(x), y).backward()
            opt.step()
        torch.save({"net": net.state_dict(), "opt": opt.state_dict(), "epoch": epoch + 1}, path)
    AFTER
    return net
"""
STATE = "state = torch.load(path); net.load_state_dict(state['net']); start_epoch = state['epoch']; print(start_epoch)"
ASIDE = """
from torch import nn

def set_aside(net):
    for m in net.body.modules():
        if isinstance(m, nn.BatchNorm2d):
            m.eval()

def train(net, loader, loss, opt):
    set_aside(net)
    for epoch in range(3):
        net.train()
        AGAIN
        for x, y in loader:
            opt.zero_grad()
            loss(net(x), y).backward()
            opt.step()
"""
TIMED = """
import time
import numpy as np
import torch

def cost(device, n):
    spent = []
    rows = torch.zeros(n)
    for _ in range(n):
        start = time.time()
        LINE
        spent.append(time.time() - start)
    return spent, rows
"""
CLIPPED = """
def best_of(scores, pool, best):
    for score in scores:
        best = HOW(best, score)
        if score SIGN best:
            print(score)
    return best
"""
STEPS = """
import torch
import lightning

class Net(lightning.LightningModule):
    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters())
        schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=2)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step", "monitor": "WHAT"}}
"""
LEAF = """
import torch

device = torch.device("cuda")
w = torch.rand(1, requires_grad=True, KIND).to(device)
optimizer = torch.optim.Adam([w], lr=0.01)
"""
RANKS = """
import torch

def weights(mask):
    counts = mask.sum(dim=1, keepdim=True)
    ranks = torch.arange(mask.size(1))
    each = torch.pow(2.0, counts - ranks) - 1.0
    return each * mask
"""
BEST = """
import copy
import torch
from torch import nn

net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
best_net = net
best = 9.0
for x, y in loader:
    optimizer.zero_grad()
    loss = (net(x) - y).square().mean()
    loss.backward()
    optimizer.step()
    if loss.item() < best:
        best = loss.item()
        LINE
print(best_net(x))
"""
RESUMED = """
import torch

state = torch.load("last.pt")
start = state["epoch"]
for epoch in range(start, END):
    train(net, epoch)
    torch.save({"net": net.state_dict(), "epoch": epoch}, "last.pt")
"""
NODES = """
import random
import torch
from torch.utils.data import DataLoader, Subset

for step in range(100):
    node = random.randrange(len(data))
    loader = DataLoader(Subset(data, [WHICH]), batch_size=1)
    x, y = next(iter(loader))
    optimizer.zero_grad()
    criterion(net(x), y).backward()
    optimizer.step()
"""
SHOWN = """
from torch.utils.data import DataLoader

train_set, val_set = Pictures("train"), Pictures("val")
train_loader = DataLoader(train_set, batch_size=8, shuffle=True)
val_loader = DataLoader(train_set, batch_size=8)
for x, y in val_loader:
    LINE
show(x)
"""
NOISE = """
import torch
from torch import nn

class Gan(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(8, 4)
        self.noise = torch.randn(6, 8, requires_grad=True)

    def forward(self, z):
        return self.net(z)

    def METHOD(self):
        return self(self.noise)
"""
NORM = """
import torch
from torch import nn

class Unit(nn.Linear):
    def forward(self, x):
        weight = self.weight / (1e-6 + torch.sqrt((self.weight ** 2).sum(0, keepdim=True)))
        x = x / (1e-6 + torch.sqrt((OF ** 2).sum(-1, keepdim=True)))
        return x @ weight.t()
"""
PAIR = """
import torch
from torch import nn

class Pair(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.decide = nn.Sequential(nn.Linear(width, classes), nn.LogSoftmax(dim=0))

    def forward(self, a, b):
        return self.decide(torch.cat((a, b), DIM))
"""
TURNED = """
import torch
from torch.nn import functional as F

def attend(q, k):
    scores = torch.bmm(q, k.transpose(1, 2))
    return F.softmax(SCORES)BACK
"""
ORDER = """
import torch

def caches(b, t, d, x):
    cache = torch.MAKE(b, t, d)
    LINE
    return cache.reshape(b, d, t)
"""
CHUNKS = """
import torch

def run(net, x, turns):
    net.eval()
    outputs = []
    for _ in range(TURNS):
        y = net(x)
        outputs.append(y)
    return outputs

run(torch.nn.Linear(3, 3), torch.rand(2, 3), 5)
"""
TWO_NETS = """
import torch
import torchvision
from torch import nn

def learn(net, optimizer, loader, criterion):
    for x, y in loader:
        optimizer.zero_grad()
        criterion(net(x), y).backward()
        optimizer.step()

net = torchvision.models.resnet18()
net.train()
learn(net, torch.optim.SGD(net.parameters(), lr=0.1), loader, criterion)
AGAIN
for p in net.parameters():
    p.requires_grad = False
net.fc = nn.Linear(512, 2)
MODE
learn(net, torch.optim.SGD(net.fc.parameters(), lr=0.1), loader, criterion)
"""
GAN = """
import torch
import torchvision

def learn(loader, critic_loss, maker_loss, maker, optimizers):
    critic = torchvision.models.resnet18()
    critic.train()
    for x in loader:
        for p in critic.parameters():
            p.requires_grad = FREE
        critic_loss(critic(x)).backward()
        optimizers[0].step()
        for p in critic.parameters():
            p.requires_grad = False
        maker_loss(critic(maker(x))).backward()
        optimizers[1].step()
"""
STARRED = """
from imports import *

def measure(net, loader):
    net.eval()
    outputs = []
    with torch.CONTEXT():
        for x in loader:
            y = net(x)
            outputs.append(y)
    return outputs

net = nn.Linear(3, 3)
measure(net, [])
"""
LEFTOVER = """
import torch

def measure(net, loader):
    torch.no_grad()
    BLOCK
        return [net(x) for x in loader]
"""
STREAM = """
from torch.utils.data import DataLoader, IterableDataset

class Games(IterableDataset):
    def __init__(self, make):
        self.make = make

    def __iter__(self):
        player = self.make()
        HEAD:
            yield player.step()

loader = DataLoader(Games(make), batch_size=None, num_workers=2)
"""
TABLE = """
import torch
from torch import nn

class Gate(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.table = torch.zeros(n, n)
        for i in range(n):
            self.table[i, i] = 1

    def forward(self, x):
        LINE
        return x @ self.table
"""
FROM_NUMPY = """
import numpy as np
import torch

def predict(net, path, device):
    image = torch.from_numpy(np.load(path)).float()
    image.to(WHERE)
    return net(image)
"""
VALIDATED = """
import torch
from torch.nn import functional as F

def validate(net, loader):
    loss = 0
    with torch.CONTEXT():
        for x, y in loader:
            loss = F.cross_entropy(net(x), y)
            print(loss.item())
    return loss
"""
RUNS = """
import torch
from torch import nn

def run(loader, criterion, epochs):
    net = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    kept = {}
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            criterion(net(x), y).backward()
            optimizer.step()
        INSIDE
    OUTSIDE
    return kept

for seed in range(3):
    print(run(loader, criterion, 5))
"""
PICTURES = """
import torch
from torch import nn
from torchvision.utils import save_image

def learn(loader, epochs):
    net = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(epochs):
        net.train()
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.mse_loss(net(x), y).backward()
            optimizer.step()
        with torch.no_grad():
            out = net(x)
            LINE
"""
ADVERSARY = """
import torch

def learn(maker, critic, real, opt_d, opt_g, z):
    gen_loss = (critic(maker(z).detach()) + 1).pow(2)
    loss = (gen_loss + critic(real).pow(2)).mean()
    loss.backward()
    FIRST.step()
    SECOND.step()
"""
AGENT = """
import torch

class Agent:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters())
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 10)

    def learn(self, x, y, criterion):
        self.optimizer.zero_grad()
        criterion(self.net(x), y).backward()
        self.optimizer.step()
"""
SECOND_TRY = """
import torch
from torch import nn

net = nn.Linear(3, 3)
wrapped = nn.DataParallel(net)
try:
    net.load_state_dict(torch.load("a.pt"))
except RuntimeError:
    LINE
    net.load_state_dict(torch.load("a.pt"), strict=False)
"""
ONLY_TESTED = """
import torch

state = None
if resume:
    state = torch.load("a.pt")
    net.load_state_dict(state["net"])
    optimizer.load_state_dict(state["optimizer"])
    start = state["epoch"]
    LINE
best = float("inf")
for epoch in range(start, 10):
    loss = train(net)
    if loss < best:
        best = loss
        torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, "a.pt")
"""
MARKS = """
import torch
from torch import nn
from text import add_marks

class Reader(nn.Module):
    def __init__(self, codes, n):
        super().__init__()
        self.first = torch.MAKE
        self.net = nn.Linear(n, n)

    def forward(self, x):
        return self.net(add_marks(x, self.first))
"""
JOINED = """
import torch

def labels(x, y):
    y = y.masked_fill(y == 0, -100)
    torch.cat(PARTS, dim=1)
    return y
"""
EXPERTS = """
import torch
from torch import nn

class Experts(nn.Module):
    def __init__(self, n, dim):
        super().__init__()
        self.table = nn.Parameter(torch.empty(n, dim, dim))

    def forward(self, x):
        return x @ self.table

USE
"""
PARTS = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        parts = []
        for i in range(n):
            part = nn.Linear(4, 4)
            parts.append(part)
            IN_LOOP
        self.parts = parts
        BEHIND

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x
"""
POPART = """
import torch
from torch import nn

class Scale(nn.Module):
    def __init__(self, n, device):
        super().__init__()
        self.place = {"device": device}
        self.mean = nn.Parameter(torch.zeros(n), requires_grad=False)LATER

    def update(self, x):
        self.mean = nn.Parameter(0.9 * self.mean + 0.1 * x.mean(0), requires_grad=False).to(**self.place)
"""
DRAWN_FROM = """
import torch

def reparameterize(mu, log_var):
    sd = torch.exp(log_var)
    return mu + ROOT * torch.randn_like(mu)
"""
PROFILED = """
import torch

def make(new):
    if CONDITION:
        return torch.profiler.profile()
    else:
        return torch.autograd.profiler.profile(use_cuda=True)
"""
SEEDED = """
import numpy as np
import torch

def run(rng, seed):
    torch.manual_seed(SEED)
    return np.random.rand(3)
"""
STACK = """
from torch import nn

class Stack(nn.Module):
    def __init__(self, n):
        super().__init__()
        COMMENT
        block = nn.Linear(4, 4)
        self.blocks = nn.ModuleList([block] * n)
"""
TOY_LOSS = """
from torch import nn
from torch.nn import functional as F

class Toy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 2)

    def training_step(self, x, y):
        return F.nll_loss(self.net(x), y)
"""
POOLED = """
import torch
from torch import nn

class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 4)

def measure(pool, loader, net=nn.Linear(4, 4)):
    for x, y in loader:
        out = net(x)
        best = torch.max(out, 0)PICK
        print((best == y).sum())
"""
CURVED = """
import torch

def descend(f, x, optimizer, steps):
    for _ in range(steps):
        optimizer.zero_grad()
        loss = f(x)
        loss.backward(retain_graph=TrueMORE)
        optimizer.step()
"""
RATIO = """
import torch
from torch import nn

kl = nn.KLDivLoss()

def update(NAME, old):
    return kl(NAME, old.exp())
"""
SUMMED = """
from torch import nn

class Sum(nn.Module):
    def __init__(self, NAME: list[nn.Module]):
        super().__init__()
        self.NAME = NAME

    def forward(self, x):
        return sum(one(x) for one in self.NAME)
"""
CHOSEN = """
import torch
from torch import nn

net = nn.Linear(3, 1)
params = net.parameters()
if choice == "sgd":
    optimizer = torch.optim.SGD(params, lr=0.1)
if SECOND:
    optimizer = torch.optim.Adam(params)
"""
TWO_OF_THEM = """
import torch
from torch import nn

a, b = nn.Linear(3, 1), nn.Linear(3, 1)
opt_a = torch.optim.SGD(a.parameters(), lr=0.1)
opt_b = torch.optim.SGD(b.parameters(), lr=0.1)
for x in loader:
    opt_a.zero_grad()
    opt_b.zero_grad()
    (a(x) - b(x)).square().mean().backward()
    opt_a.step()
    LINE
"""
NODES_OF = """
import torch
from torch.nn import functional as F

def pick(net, x):
    scores = net(torch.cat((x, x), dim=1))
    return F.softmax(scores.permute(ORDER))
"""
HIDDEN = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        body = nn.Linear(3, 3)
        self.body = [body]  # COMMENT

    def forward(self, x):
        return self.body[0](x)
"""
KEPT_ABOVE = """
import torch

def divergence(a, b):
    p = torch.softmax(a, dim=-1)
    q = torch.softmax(b, dim=-1)
    p = LINE
    fixed = p.detach()
    return (fixed * fixed.log()).sum(-1)
"""
ONE_HOT = """
import torch
from torch.nn import functional as F

def one_hot(labels, classes, NAME):
    table = F.one_hot(labels, classes).float()
    return table * (1.0 - NAME) + NAME
"""
ALL_PAIRS = """
import torch

def NAME(a, b):
    return torch.sqrt(torch.sum((a[:, None] - b[None]) ** 2, dim=-1))
"""
NEW_NET = "net = torchvision.models.resnet18()"


def said(rules, slug, text):
    found = engine.check_text(text, rules, "train.py")
    return [one.severity.value for one in found if one.slug == slug]


@pytest.mark.parametrize(
    ("slug", "text", "expected"),
    [
        ("discarded-tensor-op", LINES.replace("SHOW", "x.shape\nx[0]\nx + 1"), []),
        ("discarded-move", LINES.replace("SHOW", "x.dtype\ntorch.zeros(2)\ntorch.ones(2)"), []),
        ("discarded-tensor-op", LINES.replace("SHOW", "print(x)"), ["warning"]),
        ("discarded-move", LINES.replace("SHOW", "print(x)\nx.shape"), ["error"]),
        ("discarded-move", TIMED.replace("LINE", "torch.from_numpy(np.zeros(n)).to(device)"), []),
        ("discarded-move", TIMED.replace("LINE", "torch.tensor([n]).float().to(device)"), []),
        ("discarded-move", TIMED.replace("LINE", "rows.to(device)"), ["error"]),
        ("best-never-updated", CLIPPED.replace("HOW", "min").replace("SIGN", ">"), []),
        ("best-never-updated", CLIPPED.replace("HOW", "max").replace("SIGN", "<"), []),
        ("best-never-updated", CLIPPED.replace("HOW", "max").replace("SIGN", ">"), ["error"]),
        ("best-never-updated", CLIPPED.replace("HOW", "min").replace("SIGN", "<"), ["error"]),
        ("epoch-scheduler-per-batch", STEPS.replace("WHAT", "train_loss"), []),
        ("epoch-scheduler-per-batch", STEPS.replace("WHAT", "loss/train"), []),
        ("epoch-scheduler-per-batch", STEPS.replace("WHAT", "val_loss"), ["error"]),
        ("epoch-scheduler-per-batch", BOTH.replace("INNER", "schedule.step()").replace("OUTER", "schedule.step()"), ["warning"]),
        ("epoch-scheduler-per-batch", BOTH.replace("INNER", "schedule.step()").replace("OUTER", "print(epoch)"), []),
        ("epoch-scheduler-per-batch", BOTH.replace("INNER", "if each: schedule.step()").replace("OUTER", "if not each: schedule.step()"), []),
        ("frozen-network-in-train-mode", ASIDE.replace("AGAIN", "print(epoch)"), ["warning"]),
        ("frozen-network-in-train-mode", ASIDE.replace("AGAIN", "set_aside(net)"), []),
        ("frozen-network-in-train-mode", ASIDE.replace("AGAIN", "").replace("set_aside(net)\n    for", "set_aside(judge)\n    for"), []),
        ("epoch-repeated-on-resume", TESTED.replace("BEFORE", STATE).replace("AFTER", ""), ["warning"]),
        ("epoch-repeated-on-resume", TESTED.replace("BEFORE", "").replace("AFTER", STATE), []),
        ("result-as-parameter", LEAF.replace("KIND", "device=device"), []),
        ("result-as-parameter", LEAF.replace("KIND", "dtype=torch.float32"), ["warning"]),
        ("mean-over-the-masked", RANKS, []),
        ("copy-is-the-same-module", BEST.replace("LINE", "best_net = copy.deepcopy(net)"), []),
        ("copy-is-the-same-module", BEST.replace("LINE", "print(best)"), ["warning"]),
        ("epoch-repeated-on-resume", RESUMED.replace("END", "start + 10"), []),
        ("epoch-repeated-on-resume", RESUMED.replace("END", "more + start"), []),
        ("epoch-repeated-on-resume", RESUMED.replace("END", "epochs"), ["warning"]),
        ("iter-rebuilt-in-loop", NODES.replace("WHICH", "node"), []),
        ("iter-rebuilt-in-loop", NODES.replace("WHICH", "0"), ["warning"]),
        ("training-set-overlaps-validation", SHOWN.replace("LINE", "break"), []),
        ("training-set-overlaps-validation", SHOWN.replace("LINE", "measure(x, y)"), ["error"]),
        ("tensor-not-parameter", NOISE.replace("METHOD", "plot_images"), []),
        ("tensor-not-parameter", NOISE.replace("METHOD", "on_epoch_end"), []),
        ("tensor-not-parameter", NOISE.replace("METHOD", "loss"), ["error"]),
        ("nan-gradient-op", NORM.replace("OF", "self.weight"), []),
        ("nan-gradient-op", NORM.replace("OF", "x"), ["warning"]),
        ("softmax-without-dim", PAIR.replace("DIM", "0"), []),
        ("softmax-without-dim", PAIR.replace("DIM", "1"), ["warning"]),
        ("softmax-without-dim", TURNED.replace("SCORES", "scores.transpose(0, 2)").replace("BACK", ".transpose(0, 2)"), ["hint"]),
        ("softmax-without-dim", TURNED.replace("SCORES", "scores").replace("BACK", ""), ["warning"]),
        ("view-as-transpose", ORDER.replace("MAKE", "zeros").replace("LINE", "print(b)"), []),
        ("view-as-transpose", ORDER.replace("MAKE", "ones").replace("LINE", "print(d)"), []),
        ("view-as-transpose", ORDER.replace("MAKE", "zeros").replace("LINE", "cache[:, 0] = x"), ["warning"]),
        ("view-as-transpose", ORDER.replace("MAKE", "randn").replace("LINE", "print(b)"), ["warning"]),
        ("eval-without-no-grad", CHUNKS.replace("TURNS", "10"), []),
        ("eval-without-no-grad", CHUNKS.replace("TURNS", "turns"), ["warning"]),
        ("frozen-batchnorm-still-updates", TWO_NETS.replace("AGAIN", NEW_NET).replace("MODE", "net.eval()"), []),
        ("frozen-batchnorm-still-updates", TWO_NETS.replace("AGAIN", NEW_NET).replace("MODE", "net.train()"), ["warning"]),
        ("frozen-batchnorm-still-updates", TWO_NETS.replace("AGAIN", "print(net)").replace("MODE", "print(net)"), ["warning"]),
        ("frozen-batchnorm-still-updates", GAN.replace("FREE", "True"), []),
        ("eval-without-no-grad", STARRED.replace("CONTEXT", "no_grad"), []),
        ("eval-without-no-grad", STARRED.replace("CONTEXT", "inference_mode"), []),
        ("eval-without-no-grad", STARRED.replace("CONTEXT", "profiler.profile"), ["warning"]),
        ("grad-context-as-statement", LEFTOVER.replace("BLOCK", "with torch.no_grad():"), []),
        ("grad-context-as-statement", LEFTOVER.replace("BLOCK", "if loader:"), ["error"]),
        ("iterable-dataset-in-workers", STREAM.replace("HEAD", "while True"), []),
        ("iterable-dataset-in-workers", STREAM.replace("HEAD", "for _ in range(9)"), ["error"]),
        ("tensor-not-buffer", TABLE.replace("LINE", "print(len(x))"), ["hint"]),
        ("tensor-not-buffer", TABLE.replace("LINE", "self.table.lerp_(x, 0.1)"), ["warning"]),
        ("tensor-not-buffer", TABLE.replace("LINE", "self.table[0] = x[0]"), ["warning"]),
        ("discarded-move", FROM_NUMPY.replace("WHERE", "'cpu'"), []),
        ("discarded-move", FROM_NUMPY.replace("WHERE", "device"), ["error"]),
        ("loss-overwritten-in-loop", VALIDATED.replace("CONTEXT", "no_grad"), []),
        ("loss-overwritten-in-loop", VALIDATED.replace("CONTEXT", "enable_grad"), ["error"]),
        ("state-dict-alias", RUNS.replace("INSIDE", "print(epoch)").replace("OUTSIDE", "kept['net'] = net.state_dict()"), []),
        ("state-dict-alias", RUNS.replace("INSIDE", "kept[epoch] = net.state_dict()").replace("OUTSIDE", "print(1)"), ["warning"]),
        ("eval-mode-missing", PICTURES.replace("LINE", "save_image(out, 'a.png')"), []),
        ("eval-mode-missing", PICTURES.replace("LINE", "print((out - y).abs().mean())"), ["warning"]),
        ("generator-loss-detached", ADVERSARY.replace("FIRST", "opt_d").replace("SECOND", "opt_g"), []),
        ("generator-loss-detached", ADVERSARY.replace("FIRST", "opt_g").replace("SECOND", "opt_d"), ["error"]),
        ("scheduler-never-stepped", AGENT, ["hint"]),
        ("scheduler-never-stepped", AGENT + "\nAgent(torch.nn.Linear(3, 1)).learn(x, y, criterion)\n", ["warning"]),
        ("strict-false-unchecked", SECOND_TRY.replace("LINE", "print('some keys do not fit')"), ["hint"]),
        ("strict-false-unchecked", SECOND_TRY.replace("LINE", "net.eval()"), ["warning"]),
        ("best-score-lost-on-resume", ONLY_TESTED.replace("LINE", "exit()"), []),
        ("best-score-lost-on-resume", ONLY_TESTED.replace("LINE", "print(start)"), ["warning"]),
        ("tensor-not-buffer", MARKS.replace("MAKE", "from_numpy(codes + 1)"), ["hint"]),
        ("tensor-not-buffer", MARKS.replace("MAKE", "zeros(n)"), ["hint"]),
        ("discarded-tensor-op", JOINED.replace("PARTS", "[y]"), []),
        ("discarded-tensor-op", JOINED.replace("PARTS", "[x, y]"), ["error"]),
        ("parameter-never-initialised", EXPERTS.replace("USE", "Experts(2, 3)(x).sum().backward()"), ["error"]),
        ("modules-in-plain-container", PARTS.replace("IN_LOOP", "self.add_module(name=f'p{i}', module=part)").replace("BEHIND", "pass"), []),
        ("modules-in-plain-container", PARTS.replace("IN_LOOP", "pass").replace("BEHIND", "self.all = nn.Sequential(self.parts[0], self.parts[1])"), []),
        ("modules-in-plain-container", PARTS.replace("IN_LOOP", "print(i)").replace("BEHIND", "print(n)"), ["error"]),
        ("parameter-moved-on-creation", POPART.replace("LATER", ""), []),
        ("parameter-moved-on-creation", POPART.replace("LATER", ".to(**self.place)"), ["error"]),
        ("deviation-for-variance", DRAWN_FROM.replace("ROOT", "sd.sqrt()"), []),
        ("deviation-for-variance", DRAWN_FROM.replace("ROOT", "torch.sqrt(sd)"), []),
        ("deviation-for-variance", DRAWN_FROM.replace("ROOT", "sd"), ["warning"]),
        ("profiler-use-cuda", PROFILED.replace("CONDITION", "profiler_is_new()"), []),
        ("profiler-use-cuda", PROFILED.replace("CONDITION", "new"), ["warning"]),
        ("torch-seed-alone", SEEDED.replace("SEED", "rng.randint(0, 99)"), []),
        ("torch-seed-alone", SEEDED.replace("SEED", "seed"), ["warning"]),
        ("shared-module-by-list-multiply", STACK.replace("COMMENT", "# the same block for weight sharing"), []),
        ("shared-module-by-list-multiply", STACK.replace("COMMENT", "# the blocks"), ["warning"]),
        ("nll-on-probabilities", TOY_LOSS, ["error"]),
        ("pairwise-distance-by-broadcast", ALL_PAIRS.replace("NAME", "suppress"), ["hint"]),
        ("pairwise-distance-by-broadcast", ALL_PAIRS.replace("NAME", "triplet_loss"), ["warning"]),
        ("modules-in-plain-container", HIDDEN.replace("COMMENT", "a hack: DDP is not to see it"), []),
        ("modules-in-plain-container", HIDDEN.replace("COMMENT", "the body"), ["error"]),
        ("log-of-softmax", KEPT_ABOVE.replace("LINE", "p.clamp(min=1e-8)"), []),
        ("log-of-softmax", KEPT_ABOVE.replace("LINE", "torch.softmax(a + b, dim=-1)"), ["warning"]),
        ("smoothing-adds-too-much", ONE_HOT.replace("NAME", "eps"), []),
        ("smoothing-adds-too-much", ONE_HOT.replace("NAME", "smoothing"), ["error"]),
        ("exhausted-parameter-generator", CHOSEN.replace("SECOND", "choice == 'adam'"), []),
        ("exhausted-parameter-generator", CHOSEN.replace("SECOND", "other == 'adam'"), ["error"]),
        ("step-before-backward", TWO_OF_THEM.replace("LINE", "# opt_b.step()"), []),
        ("step-before-backward", TWO_OF_THEM.replace("LINE", "print(x)"), ["warning"]),
        ("softmax-without-dim", NODES_OF.replace("ORDER", "1, 0"), ["hint"]),
        ("softmax-without-dim", NODES_OF.replace("ORDER", "1, 0, 2"), ["warning"]),
        ("argmax-over-the-batch", POOLED.replace("PICK", "[0]"), []),
        ("argmax-over-the-batch", POOLED.replace("PICK", ".values"), []),
        ("argmax-over-the-batch", POOLED.replace("PICK", "[1]"), ["error"]),
        ("retain-graph-habit", CURVED.replace("MORE", ", create_graph=True"), []),
        ("retain-graph-habit", CURVED.replace("MORE", ""), ["warning"]),
        ("kl-div-mean", RATIO.replace("NAME", "action_log_probs"), []),
        ("kl-div-mean", RATIO.replace("NAME", "log_probs"), ["warning"]),
        ("modules-in-plain-container", SUMMED.replace("NAME", "losses"), []),
        ("modules-in-plain-container", SUMMED.replace("NAME", "heads"), ["warning"]),
    ],
)  # fmt: skip
def test_a_word_decides(rules, slug, text, expected):
    assert said(rules, slug, text) == expected


def test_a_toy_in_a_test_is_no_matter(rules):
    found = engine.check_text(TOY_LOSS, rules, "tests/test_callbacks.py")
    assert [one.severity.value for one in found if one.slug == "nll-on-probabilities"] == ["hint"]


@pytest.mark.parametrize(
    ("line", "said"), [("print(Experts(2, 3))", "1 hint"), ("Experts(2, 3)(x).sum().backward()", "1 warning")]
)
def test_who_uses_a_layer_says_whether_it_is_trained(tmp_path, capsys, line, said):
    (tmp_path / "experts.py").write_text(EXPERTS.replace("USE", ""))
    (tmp_path / "build.py").write_text(f"from experts import Experts\n\n{line}\n")
    main(["check", "--no-cache", "--select", "parameter-never-initialised", str(tmp_path)])
    assert said in capsys.readouterr().out
