"""Other spellings of traps, each with what looks like it and is none: all rules together flag exactly the marked lines."""

import re

import pytest

from torchlore.check import engine
from torchlore.cli.check import all_rules

SPELLINGS = {
    "frozen-network-in-train-mode": """
import torch
from torch import nn


class FrozenNorms(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))

    def freeze_bn(self):
        for m in self.modules():
            if isinstance(m, nn.BatchNorm1d):
                m.eval()

    def forward(self, x):
        return self.body(x)


def frozen_once(loader, criterion):
    net = FrozenNorms()
    net.freeze_bn()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        net.train()  # trap: frozen-network-in-train-mode
        for x, y in loader:
            optimizer.zero_grad()
            criterion(net(x), y).backward()
            optimizer.step()


def frozen_each_time(loader, criterion):
    net = FrozenNorms()
    net.freeze_bn()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        net.train()
        net.freeze_bn()
        for x, y in loader:
            optimizer.zero_grad()
            criterion(net(x), y).backward()
            optimizer.step()
""",
    "accumulate-loss-with-graph": """
import random
from collections import deque

import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.box = nn.Linear(4, 4), nn.Linear(4, 2)

    def forward(self, x):
        return self.box(torch.relu(self.body(x)))


def parts_of(out, y, z):
    return {"cls": nn.functional.cross_entropy(out, y), "box": nn.functional.mse_loss(out[:, 0], z)}


def by_part(loader):
    net = Head()
    opt = torch.optim.Adam(net.parameters())
    totals, outputs, calm = {"cls": 0.0, "box": 0.0}, [], 0.0
    for x, y, z in loader:
        out = net(x)
        losses = parts_of(out, y, z)
        loss = losses["cls"] + 2 * losses["box"]
        opt.zero_grad()
        loss.backward()
        opt.step()
        for name, value in losses.items():
            totals[name] += value * len(x)  # trap: accumulate-loss-with-graph
        outputs.append(out)  # trap: accumulate-loss-with-graph
        calm += losses["box"].item()
    return totals, torch.cat(outputs), calm


class Trainer:
    def __init__(self):
        self.net, self.mean = Head(), None
        self.opt = torch.optim.Adam(self.net.parameters())

    def step(self, x, y):
        loss = nn.functional.cross_entropy(self.net(x), y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        if self.mean is None:
            self.mean = loss.detach()
        else:
            self.mean = 0.9 * self.mean + 0.1 * loss  # trap: accumulate-loss-with-graph
        return {"loss": loss, "n": len(x)}

    def number(self, x, y):
        loss = nn.functional.cross_entropy(self.net(x), y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()

    def fit(self, loader):
        kept, numbers = [], []
        for x, y in loader:
            kept.append(self.step(x, y))  # trap: accumulate-loss-with-graph
            numbers.append(self.number(x, y))
        return kept, numbers


def some_turns(loader):  # one backward pass for ten turns
    net = Head()
    opt = torch.optim.Adam(net.parameters())
    chunk = []
    for i, (x, y) in enumerate(loader):
        chunk.append(nn.functional.cross_entropy(net(x), y))
        if i % 10 == 9:
            loss = torch.stack(chunk).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            chunk = []


class Memory:
    def __init__(self):
        self.box = deque(maxlen=1000)

    def push(self, *parts):
        self.box.append(parts)

    def draw(self):
        return random.sample(self.box, 8)


def play(states, opt):
    net, memory = Head(), Memory()
    for state in states:
        q = net(state)
        memory.push(state, q.max())  # trap: accumulate-loss-with-graph
        memory.push(state, q.argmax().item())
        loss = torch.stack([net(one).sum() for one, _ in memory.draw()]).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


class Log:
    def __init__(self):
        self.scalars = {"loss": [], "other": []}

    def log(self, **numbers):
        for key, value in numbers.items():
            self.scalars[key].append(value)


def logged(loader):
    net, log = Head(), Log()
    opt = torch.optim.Adam(net.parameters())
    for x, y in loader:
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.log(loss=loss, other=1.0)  # trap: accumulate-loss-with-graph
        log.log(loss=loss.item())
""",
    "eval-mode-missing": """
import torch
from torch import nn


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))

    def forward(self, x):
        return self.layers(x)


def fit_and_save(path):
    scorer = Scorer()
    opt = torch.optim.Adam(scorer.parameters())
    for _ in range(3):
        opt.zero_grad()
        scorer(torch.randn(2, 4)).mean().backward()
        opt.step()
    torch.save(scorer.state_dict(), path)


def read_back(path):
    judge = Scorer()
    judge.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    return judge


def serve(path, x):
    fit_and_save(path)
    judge = read_back(path)
    with torch.no_grad():  # trap: eval-mode-missing
        return judge(x)


def serve_twin(path, x):  # a target network follows another one, in its mode
    student, target = Scorer(), Scorer()
    target.load_state_dict(student.state_dict())
    opt = torch.optim.Adam(student.parameters())
    with torch.no_grad():
        wanted = target(x)
    opt.zero_grad()
    (student(x) - wanted).pow(2).mean().backward()
    opt.step()
""",
    "missing-zero-grad": """
import torch
from torch import nn


def stepped_by_hand(loader):
    net = nn.Linear(3, 1)
    for x, y in loader:
        (net(x) - y).pow(2).mean().backward()
        for p in net.parameters():
            p.data.add_(-0.1 * p.grad)  # trap: missing-zero-grad


def one_by_hand(x, y):
    w = torch.randn(3, requires_grad=True)
    for _ in range(10):
        (x @ w - y).pow(2).mean().backward()
        with torch.no_grad():
            w -= 0.1 * w.grad  # trap: missing-zero-grad


def cleared_by_hand(loader):
    net = nn.Linear(3, 1)
    for x, y in loader:
        (net(x) - y).pow(2).mean().backward()
        with torch.no_grad():
            for p in net.parameters():
                p.sub_(0.1 * p.grad)
                p.grad = None


def attacked(net, x, y):
    for _ in range(10):
        x = x.detach().requires_grad_(True)
        (net(x) - y).pow(2).mean().backward()
        x = x + 0.1 * x.grad.sign()
""",
    "module-in-no-optimizer": """
import torch
from torch import nn


class Weights(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_vars = nn.Parameter(torch.zeros(2))

    def forward(self, first, second):
        return (torch.exp(-self.log_vars) * torch.stack([first, second]) + self.log_vars).sum()


def collected(model, lr):
    found = []
    params = {"lr": lr, "params": []}
    for name, p in model.named_parameters():
        if "body" in name:
            params["params"].append(p)
    found.append(params)
    params = {"lr": 10 * lr, "params": []}
    for name, p in model.named_parameters():
        if "head" in name:
            params["params"].append(p)  # trap: module-in-no-optimizer
    return torch.optim.AdamW(found)


def one_step(writer, reader, x, opt):
    opt.zero_grad()
    reader(writer(x)).mean().backward()
    opt.step()


def handed_on(loader):
    writer, reader = nn.Linear(2, 2), nn.Linear(2, 2)
    opt = torch.optim.Adam(writer.parameters())  # trap: module-in-no-optimizer
    for x in loader:
        one_step(writer, reader, x, opt)


def weights_shown(model, loader):
    tasks = Weights()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)  # trap: module-in-no-optimizer
    for x, a, b in loader:
        one, two = model(x)
        loss = tasks((one - a).pow(2).mean(), (two - b).pow(2).mean())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(tasks.log_vars.tolist())


class Thawing:
    def __init__(self, model):
        self.model = model
        self.model.encoder.requires_grad_(False)
        params = [p for p in model.parameters() if p.requires_grad]
        self.opt = torch.optim.AdamW(params, lr=1e-3)

    def thaw(self):
        for p in self.model.encoder.parameters():
            p.requires_grad = True

    def fit(self, loader):
        for epoch in range(4):
            if epoch == 2:
                self.thaw()  # trap: module-in-no-optimizer
            for x in loader:
                self.opt.zero_grad()
                self.model(x).mean().backward()
                self.opt.step()


def built_again(model, loader):
    for p in model.body.parameters():
        p.requires_grad = False
    opt = torch.optim.SGD(filter(lambda p: p.requires_grad, model.parameters()), 0.1)
    for x in loader:
        opt.zero_grad()
        model(x).mean().backward()
        opt.step()
    for p in model.body.parameters():
        p.requires_grad = True
    opt = torch.optim.SGD(filter(lambda p: p.requires_grad, model.parameters()), 0.01)
    for x in loader:
        opt.zero_grad()
        model(x).mean().backward()
        opt.step()


def added(model, loader):
    for p in model.body.parameters():
        p.requires_grad = False
    opt = torch.optim.SGD(filter(lambda p: p.requires_grad, model.parameters()), 0.1)
    for epoch in range(4):
        if epoch == 1:
            model.body.requires_grad_(True)
            opt.add_param_group({"params": model.body.parameters()})
        for x in loader:
            opt.zero_grad()
            model(x).mean().backward()
            opt.step()


class Rivals:
    def __init__(self):
        self.maker, self.judge = nn.Linear(4, 2), nn.Linear(2, 1)
        self.maker_opt = torch.optim.Adam(self.maker.parameters())
        self.judge_opt = torch.optim.Adam(self.maker.parameters())  # trap: module-in-no-optimizer

    def step(self, x):
        loss = -self.judge(self.maker(x)).mean()
        self.maker_opt.zero_grad()
        loss.backward()
        self.maker_opt.step()
""",
    "bootstrap-target-attached": """
import torch.nn.functional as F
from torch import nn


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.predictor = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, one, two):
        z1, z2 = self.encoder(one), self.encoder(two)
        p1, p2 = self.predictor(z1), self.predictor(z2)
        return p1, p2, z1, z2  # trap: bootstrap-target-attached


class SiameseCut(Siamese):
    def forward(self, one, two):
        z1, z2 = self.encoder(one), self.encoder(two)
        p1, p2 = self.predictor(z1), self.predictor(z2)
        return p1, p2, z1.detach(), z2.detach()


def likeness(p, z):
    return -F.cosine_similarity(p, z, dim=-1).mean()


def pull(one, two):
    p1, p2, z1, z2 = Siamese()(one, two)
    loss = (likeness(p1, z2) + likeness(p2, z1)) / 2
    loss.backward()


def pull_cut(one, two):
    p1, p2, z1, z2 = SiameseCut()(one, two)
    loss = (likeness(p1, z2) + likeness(p2, z1)) / 2
    loss.backward()
""",
    "accumulate-loss-with-graph: joined": """
import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.Adam(net.parameters())
curve, calm = torch.empty(0), torch.empty(0)
for _ in range(100):
    x, y = torch.randn(4, 3), torch.randn(4, 1)
    loss = nn.functional.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    curve = torch.cat([curve, loss.reshape(1)])  # trap: accumulate-loss-with-graph
    calm = torch.cat([calm, loss.detach().reshape(1)])
""",
    "eval-mode-missing: phases": """
import torch
from torch import nn


def fit(loaders, opt, always):
    net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
    opt = torch.optim.Adam(net.parameters())
    for phase in ["train", "val"]:
        net.train()  # trap: eval-mode-missing
        for x, y in loaders[phase]:
            with torch.set_grad_enabled(phase == "train"):
                loss = nn.functional.cross_entropy(net(x), y)
                if phase == "train":
                    opt.zero_grad()
                    loss.backward()
                    opt.step()


def fit_well(loaders):
    net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
    opt = torch.optim.Adam(net.parameters())
    for phase in ["train", "val"]:
        if phase == "train":
            net.train()
        else:
            net.eval()
        for x, y in loaders[phase]:
            with torch.set_grad_enabled(phase == "train"):
                loss = nn.functional.cross_entropy(net(x), y)
                if phase == "train":
                    opt.zero_grad()
                    loss.backward()
                    opt.step()
""",
    "generator-loss-detached: helper": """
import torch
from torch import nn
from torch.nn import functional as F


def judged(critic, sample, real):
    score = critic(sample.detach())  # trap: generator-loss-detached
    return F.binary_cross_entropy_with_logits(score, torch.full_like(score, float(real)))


def judged_well(critic, sample, real):
    score = critic(sample)
    return F.binary_cross_entropy_with_logits(score, torch.full_like(score, float(real)))


def step(z, real):
    gen, critic = nn.Linear(4, 2), nn.Linear(2, 1)
    opt_g, opt_c = torch.optim.Adam(gen.parameters()), torch.optim.Adam(critic.parameters())
    fake = gen(z)
    c_loss = judged(critic, real, True) + judged(critic, fake, False)
    opt_c.zero_grad()
    c_loss.backward()
    opt_c.step()
    g_loss = judged(critic, fake, True)
    better = judged_well(critic, fake, True)
    opt_g.zero_grad()
    (g_loss + better).backward()
    opt_g.step()
""",
    "optimizer-before-model-change: grown": """
import torch
from torch import nn


class Growing(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(4, 4)])
        self.seen = []

    def grow(self):
        self.blocks.append(nn.Linear(4, 4))

    def note(self, number):
        self.seen.append(number)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def fit(loader):
    net = Growing()
    opt = torch.optim.Adam(net.parameters())
    for stage in range(3):
        for x in loader:
            opt.zero_grad()
            net(x).mean().backward()
            opt.step()
        net.note(stage)
        net.grow()  # trap: optimizer-before-model-change


def grown_first(loader):
    net = Growing()
    net.grow()
    opt = torch.optim.Adam(net.parameters())
    for x in loader:
        opt.zero_grad()
        net(x).mean().backward()
        opt.step()
""",
    "modules-in-plain-container: a class": """
from torch import nn


class Heads:
    def __init__(self, dim):
        self.one, self.two = nn.Linear(dim, 2), 3
        self.other = nn.Linear(dim, 3)

    def __call__(self, x):
        return self.one(x), self.other(x)


class Asked(Heads):
    def parameters(self):
        return [*self.one.parameters(), *self.other.parameters()]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.heads = Heads(4)  # trap: modules-in-plain-container
        self.asked = Asked(4)

    def forward(self, x):
        return self.heads(self.body(x)), self.asked(x)
""",
    "view-as-transpose: pictures": """
import cv2
import numpy as np
import torch
from PIL import Image


def by_opencv(path):
    image = cv2.cvtColor(cv2.imread(path), cv2.COLOR_BGR2RGB)
    image = cv2.resize(image, (64, 48))
    return torch.from_numpy(image).float().view(3, 48, 64) / 255  # trap: view-as-transpose


def by_pil(path):
    image = np.array(Image.open(path).convert("RGB"), dtype=np.float32)
    return torch.tensor(image.reshape(3, *image.shape[:2])), torch.tensor(image).view(1, 3, 32, 32)  # trap: view-as-transpose


def drawn():
    batch = np.random.rand(100, 28, 28, 3).astype(np.float32)
    return torch.from_numpy(batch).reshape(-1, 3, 28, 28)  # trap: view-as-transpose


def turned(path):
    grey = cv2.imread(path, cv2.IMREAD_GRAYSCALE)
    image = cv2.resize(cv2.imread(path), (64, 48))
    one = torch.from_numpy(image).permute(2, 0, 1).reshape(1, 3, 48, 64)
    return one, torch.from_numpy(image).view(-1, 3), torch.from_numpy(grey).view(1, 48, 64)
""",
    "bootstrap-target-attached: a number for gamma": """
import torch
from torch import nn
from torch.nn import functional as F


def learn(states, actions, rewards, after):
    net, frozen = nn.Linear(4, 2), nn.Linear(4, 2)
    optimizer = torch.optim.Adam(net.parameters())
    target = rewards + 0.99 * net(after).max(1).values  # trap: bootstrap-target-attached
    calm = rewards + 0.99 * frozen(after).max(1).values.detach()
    values = net(states).gather(1, actions).squeeze(1)
    loss = F.smooth_l1_loss(values, target) + F.smooth_l1_loss(values, calm)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "reinforcement by numbers": """
import torch
from torch import nn, optim


def clipped(policy, states, actions, gain, old):
    logp = torch.distributions.Categorical(logits=policy(states)).log_prob(actions)
    ratio = torch.exp(logp - old)
    plain = ratio * gain
    held = torch.clamp(ratio, 0.8, 1.2) * gain
    return -torch.max(plain, held).mean(), -torch.min(plain, held).mean()  # trap: surrogate-clipped-wrong


def both_at_once(states, rewards):
    actor, critic = nn.Linear(4, 2), nn.Linear(4, 1)
    optimizer = optim.Adam([*actor.parameters(), *critic.parameters()])
    dist = torch.distributions.Categorical(logits=actor(states))
    chosen = dist.sample()
    value = critic(states)
    advantage = rewards - value
    acts = -(dist.log_prob(chosen) * advantage.squeeze(1)).mean()  # trap: advantage-attached
    calm = -(dist.log_prob(chosen) * advantage.detach().squeeze(1)).mean()
    optimizer.zero_grad()
    (acts + calm + advantage.pow(2).mean()).backward()
    optimizer.step()
""",
    "the logarithm of a variance; classes behind; layers below": """
import torch
from torch import nn
from torch.nn import functional as F


class Below(nn.Module):
    def __init__(self):
        super().__init__()
        self.fill()  # trap: initialised-before-all-layers
        self.first, self.second = nn.Linear(4, 8), nn.Linear(8, 5)

    def fill(self):
        for layer in self.modules():
            if isinstance(layer, nn.Linear):
                nn.init.xavier_uniform_(layer.weight)

    def forward(self, x):
        return self.second(F.relu(self.first(x)))


def likely(mean, logvar, y):
    wrong = F.gaussian_nll_loss(mean, y, logvar)  # trap: deviation-for-variance
    return wrong + F.gaussian_nll_loss(mean, y, logvar.exp())


def tagged(words, tags):
    head = nn.Linear(16, 5)
    out = head(words)
    wrong = F.cross_entropy(out.view(4, 5, 7), tags)  # trap: view-as-transpose
    return wrong + F.cross_entropy(out.transpose(1, 2), tags) + F.cross_entropy(out.view(-1, 5), tags.view(-1))
""",
    "last-step-is-padding: filled up by the loader": """
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(8, 16, batch_first=True)
        self.head = nn.Linear(16, 2)

    def forward(self, x):
        out, _ = self.rnn(x)
        return self.head(out[:, -1])  # trap: last-step-is-padding


def together(batch):
    return pad_sequence([x for x, _ in batch], batch_first=True), torch.tensor([y for _, y in batch])


def batches(data):
    return DataLoader(data, batch_size=8, shuffle=True, collate_fn=together)
""",
    "eval-without-no-grad: a state of its own": """
import torch
from torch import nn


class Online:
    def __init__(self):
        self.cell = nn.GRUCell(1, 4)
        self.cell.eval()
        self.h = torch.zeros(1, 4)

    def push(self, x):
        self.h = self.cell(x, self.h)  # trap: eval-without-no-grad
        return self.h.sum().item()


class Quiet:
    def __init__(self):
        self.cell = nn.GRUCell(1, 4)
        self.cell.eval()
        self.h = torch.zeros(1, 4)

    @torch.no_grad()
    def push(self, x):
        self.h = self.cell(x, self.h)
        return self.h.sum().item()
""",
    "module-in-no-optimizer: handed to a helper": """
import torch
from torch import nn


class Centers(nn.Module):
    def __init__(self):
        super().__init__()
        self.centers = nn.Parameter(torch.randn(3, 8))

    def forward(self, x, labels):
        return (x - self.centers[labels]).pow(2).sum(1).mean()


def epoch(net, cent, opt, batches):
    for x, y in batches:
        opt.zero_grad()
        loss = cent(net(x), y)
        loss.backward()
        opt.step()


def forgotten(batches):
    net, centers = nn.Linear(4, 8), None
    centers = Centers()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)  # trap: module-in-no-optimizer
    for _ in range(3):
        epoch(net, cent=centers, opt=opt, batches=batches)


def given(batches):
    net = nn.Linear(4, 8)
    centers = Centers()
    opt = torch.optim.SGD([*net.parameters(), *centers.parameters()], lr=0.1)
    for _ in range(3):
        epoch(net, centers, opt, batches)


def groups(net):
    found = []
    group = {"lr": 0.1}
    group["params"] = []
    for name, param in net.named_parameters():
        if "body" in name:
            group["params"].append(param)
    found.append(group)
    group = {"lr": 1.0}
    group["params"] = []
    for name, param in net.named_parameters():
        if "head" in name:
            group["params"].append(param)  # trap: module-in-no-optimizer
    return torch.optim.SGD(found)
""",
    "trainable-layer-under-no-grad: a block too wide": """
import torch
from torch import nn


class Voice(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(8, 16, batch_first=True)
        self.out = nn.Linear(16, 4)

    def forward(self, x):
        with torch.no_grad():  # trap: trainable-layer-under-no-grad
            x = x - x.mean(1, keepdim=True)
            x, _ = self.gru(x)
        return self.out(x[:, -1])


class Right(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(8, 16, batch_first=True)
        self.out = nn.Linear(16, 4)

    def forward(self, x):
        with torch.no_grad():
            x = x - x.mean(1, keepdim=True)
        x, _ = self.gru(x)
        return self.out(x[:, -1])


def fit(batches):
    voice, right, rest = Voice(), Right(), nn.Linear(4, 2)
    opt = torch.optim.Adam(list(voice.parameters()) + list(right.parameters()) + list(rest.parameters()), lr=1e-3)
    for x, y in batches:
        loss = nn.functional.cross_entropy(rest(voice(x) + right(x)), y)
        opt.zero_grad()
        loss.backward()
        opt.step()


def apart(batches):
    body, head = nn.Linear(8, 16), nn.Linear(16, 2)
    opt = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=1e-3)
    for x, y in batches:
        with torch.no_grad():  # trap: trainable-layer-under-no-grad
            seen = body(x)
        loss = nn.functional.cross_entropy(head(seen), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
    "train and eval: undone a line later": """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8))
        self.head = nn.Sequential(nn.Dropout(0.5), nn.Linear(8, 2))

    def forward(self, x):
        return self.head(self.encoder(x))

    def freeze(self):
        for param in self.encoder.parameters():
            param.requires_grad = False
        self.encoder.eval()


def step(net, opt, x, y):
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    opt.step()


def undone(train_batches, valid_batches):
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        net.train()
        for x, y in train_batches:
            step(net, opt, x, y)
        net.eval()
        hits = 0
        with torch.no_grad():
            for x, y in valid_batches:
                net.train()  # trap: eval-mode-missing
                hits += (net(x).argmax(1) == y).sum().item()
        print(hits)


def once(batches):
    net = Net()
    net.freeze()
    opt = torch.optim.SGD(net.head.parameters(), lr=0.1)
    for _ in range(3):
        net.train()  # trap: frozen-batchnorm-still-updates
        for x, y in batches:
            step(net, opt, x, y)


def again(batches):
    net = Net()
    net.freeze()
    opt = torch.optim.SGD(net.head.parameters(), lr=0.1)
    for _ in range(3):
        net.train()
        net.encoder.eval()
        for x, y in batches:
            step(net, opt, x, y)
""",
    "scheduler and mask: other names": """
import torch
from torch import nn
from torch.optim.lr_scheduler import ExponentialLR


def plans(gen, dis):
    opt_gen = torch.optim.Adam(gen.parameters(), lr=1e-3)
    opt_dis = torch.optim.Adam(dis.parameters(), lr=1e-3)
    sch_gen = ExponentialLR(opt_gen, gamma=0.9)
    sch_dis = ExponentialLR(opt_gen, gamma=0.9)  # trap: scheduler-holds-another-optimizer
    return sch_gen, sch_dis


def batch(n, t):
    lengths = torch.randint(1, t + 1, (n,))
    kept = (torch.arange(t)[None] < lengths[:, None]).float()
    return {"obs": torch.randn(n, t), "goal": torch.randn(n, t), "kept": kept, "near": torch.rand(n, t) < 0.5}


def loss_of(net, data):
    error = nn.functional.mse_loss(net(data["obs"]), data["goal"], reduction="none")
    return torch.mean(error * data["kept"])  # trap: masked-mean-counts-padding


def loss_in(net, data):
    error = nn.functional.mse_loss(net(data["obs"]), data["goal"], reduction="none")
    return torch.mean(error * data["near"])


def value(net):
    return loss_of(net, batch(8, 5)) + loss_in(net, batch(8, 5))
""",
    "a helper, a fold, a list of lists": """
from collections import defaultdict

import torch
from torch import nn


class Blocks(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = []  # trap: modules-in-plain-container
        self.kept = nn.ModuleList()
        for _ in range(2):
            block = [nn.Linear(4, 4) for _ in range(2)]
            self.blocks.append(block)
            other = [nn.Linear(4, 4) for _ in range(2)]
            self.kept.append(nn.ModuleList(other))

    def forward(self, x):
        for block, kept in zip(self.blocks, self.kept):
            for one, two in zip(block, kept):
                x = one(x) + two(x)
        return x


def train_fold(model, optimizer, loader):
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()


def folds(loaders):
    model = nn.Linear(4, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for loader in loaders:
        model = nn.Linear(4, 2)  # trap: optimizer-before-model-change
        train_fold(model, optimizer, loader)


def folds_of_their_own(loaders):
    for loader in loaders:
        model = nn.Linear(4, 2)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
        train_fold(model, optimizer, loader)


class Run:
    def __init__(self):
        self.model = nn.Linear(4, 1)
        self.optim = torch.optim.Adam(self.model.parameters())
        self.logs, self.numbers = defaultdict(list), defaultdict(list)

    def losses(self, batch):
        error = self.model(batch["x"]).squeeze(-1) - batch["y"]
        return {"loss": error.pow(2).mean(), "mae": error.abs().mean()}

    def train(self, batches):
        for batch in batches:
            out = self.losses(batch)
            self.optim.zero_grad()
            out["loss"].backward()
            self.optim.step()
            for key, value in out.items():
                self.logs[key].append(value)  # trap: accumulate-loss-with-graph
                self.numbers[key].append(value.item())

    def means(self):
        return {key: float(sum(held) / len(held)) for key, held in self.logs.items()}
""",
    "what is beside the network": """
import torch
from torch import nn


def weighed(batches):
    net = nn.Linear(4, 2)
    log_vars = nn.Parameter(torch.zeros(2))
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)  # trap: module-in-no-optimizer
    for x, y in batches:
        error = (net(x) - y).pow(2).mean(0)
        loss = (torch.exp(-log_vars) * error + log_vars).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()


def weighed_and_given(batches):
    net = nn.Linear(4, 2)
    log_vars = nn.Parameter(torch.zeros(2))
    opt = torch.optim.Adam([*net.parameters(), log_vars], lr=1e-3)
    for x, y in batches:
        error = (net(x) - y).pow(2).mean(0)
        loss = (torch.exp(-log_vars) * error + log_vars).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()


class Translator:
    def __init__(self):
        self.encoder, self.decoder = nn.GRU(4, 8), nn.GRU(8, 8)
        self.out = nn.Linear(8, 4)
        params = list(self.encoder.parameters()) + list(self.decoder.parameters())
        self.opt = torch.optim.Adam(params, lr=1e-3)  # trap: module-in-no-optimizer

    def train_step(self, x, y):
        hidden, _ = self.encoder(x)
        hidden, _ = self.decoder(hidden)
        loss = nn.functional.mse_loss(self.out(hidden), y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()


def translate(batches):
    whole = Translator()
    for x, y in batches:
        whole.train_step(x, y)


class Several:
    def __init__(self, nets):
        self.nets = nn.ModuleDict(nets)
        self.opts = {key: torch.optim.Adam(net.parameters(), 1e-3) for key, net in nets.items()}

    def step(self, x):
        loss = self.nets["b"](self.nets["a"](x)).pow(2).mean()
        loss.backward()
        for opt in self.opts.values():
            opt.step()

    def right(self, x):
        for opt in self.opts.values():
            opt.zero_grad()
        self.step(x)
""",
    "one function for both phases": """
import torch
from torch import nn


class Engine:
    def __init__(self, model):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters())

    def run_epoch(self, loader, train):
        with torch.set_grad_enabled(train):
            for x, y in loader:
                loss = nn.functional.mse_loss(self.model(x), y)  # trap: eval-mode-missing
                if train:
                    self.opt.zero_grad()
                    loss.backward()
                    self.opt.step()


def both(first, second):
    engine = Engine(nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 1)))
    for _ in range(3):
        engine.run_epoch(first, True)
        engine.run_epoch(second, False)


def similar(one, other):
    return torch.log_softmax(one @ other.t(), dim=1).diag().mean()  # trap: objective-not-negated


def unlike(one, other):
    return -torch.log_softmax(one @ other.t(), dim=1).diag().mean()


def contrast(net, opt, pairs):
    for a, b in pairs:
        loss = similar(net(a), net(b)) + unlike(net(a), net(b))
        opt.zero_grad()
        loss.backward()
        opt.step()


def collected(batches):
    net = nn.Linear(2, 3)
    opt = torch.optim.SGD(net.parameters(), 0.1)
    probs, kept = [], []
    for x, y in batches:
        logits = net(x)
        loss = nn.functional.cross_entropy(logits, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        probs.append(logits.softmax(1))  # trap: accumulate-loss-with-graph
        kept.append(logits.detach().softmax(1))
    return torch.cat(probs), torch.cat(kept)


def one_output(x):
    net = nn.Linear(4, 1)
    return net(x).argmax(dim=-1), nn.Linear(4, 2)(x).argmax(dim=-1)  # trap: argmax-over-the-batch
""",
    "clip-outside-backward-step": """
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_


def one_net_twice(encoder: nn.Module, decoder: nn.Module, x):
    first = torch.optim.Adam(encoder.parameters())
    second = torch.optim.Adam(decoder.parameters())
    for _ in range(3):
        first.zero_grad()
        second.zero_grad()
        decoder(encoder(x)).mean().backward()
        clip_grad_norm_(encoder.parameters(), 1.0)
        clip_grad_norm_(encoder.parameters(), 1.0)  # trap: clip-outside-backward-step
        first.step()
        second.step()


def both_nets(encoder: nn.Module, decoder: nn.Module, x):
    first = torch.optim.Adam(encoder.parameters())
    second = torch.optim.Adam(decoder.parameters())
    for _ in range(3):
        first.zero_grad()
        second.zero_grad()
        decoder(encoder(x)).mean().backward()
        clip_grad_norm_(encoder.parameters(), 1.0)
        clip_grad_norm_(decoder.parameters(), 1.0)
        first.step()
        second.step()
""",
    "bootstrap-target-attached, more": """
import torch
from torch import nn


class Twin(nn.Module):
    def __init__(self):
        super().__init__()
        self.online, self.slow = nn.Linear(4, 4), nn.Linear(4, 4)

    def follow(self):
        with torch.no_grad():
            for p, q in zip(self.online.parameters(), self.slow.parameters(), strict=True):
                q.mul_(0.99).add_(p, alpha=0.01)

    def forward(self, x):
        wanted = self.slow(x)  # trap: bootstrap-target-attached
        return ((self.online(x) - wanted) ** 2).mean()

    def right(self, x):
        wanted = self.slow(x)
        return ((self.online(x) - wanted.detach()) ** 2).mean()


class Cut(Twin):
    def forward(self, x):
        with torch.no_grad():
            wanted = self.slow(x)
        return ((self.online(x) - wanted) ** 2).mean()


def train_twin(x):
    net = Twin()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        net(x).backward()
        optimizer.step()
        net.follow()
""",
    "view-as-transpose": """


def for_a_convolution(conv, embedded, width):
    batch, steps, _ = embedded.shape
    wrong = embedded.view(batch, width, steps)  # trap: view-as-transpose
    right = embedded.transpose(1, 2).reshape(batch, width, steps)
    return conv(wrong), conv(right), embedded.view(batch * steps, width), embedded.reshape(batch, steps, 2, -1)
""",
    "frozen-batchnorm-still-updates": """
import torch
from torch import nn


class ByMethod(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4))
        self.head = nn.Linear(4, 2)

    def freeze(self):
        for p in self.body.parameters():
            p.requires_grad = False

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))


def train(model, loader, optimizer):
    model.train()  # trap: frozen-batchnorm-still-updates
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


def by_method(loader):
    net = ByMethod()
    net.freeze()
    train(net, loader, torch.optim.SGD(net.head.parameters(), 0.1))
""",
    "names that look right": """
import copy

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.neck, self.head = nn.Linear(4, 8), nn.Linear(8, 8), nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.neck(self.body(x)))


def compared(model):
    for p in model.body.parameters():
        p.requires_grad == False  # trap: requires-grad-on-module
    return [p for p in model.parameters() if p.requires_grad == True]


def in_groups(batches):
    net = Net()
    opt = torch.optim.AdamW([{"params": net.body.parameters(), "lr": 1e-5}, {"params": net.head.parameters()}])  # trap: module-in-no-optimizer
    for x, y in batches:
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()


def copied(batches):
    base = nn.Linear(4, 2)
    opt = torch.optim.SGD(base.parameters(), lr=0.1)  # trap: optimizer-before-model-change
    net = copy.deepcopy(base)
    for x, y in batches:
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()


def of_the_teacher(batches):
    student, teacher = nn.Linear(4, 2), nn.Linear(4, 2)
    opt = torch.optim.SGD(student.parameters(), lr=0.1)
    for x in batches:
        with torch.no_grad():
            wanted = teacher(x)
        loss = (student(x) - wanted).pow(2).mean()
        teacher.zero_grad()  # trap: missing-zero-grad
        loss.backward()
        opt.step()


def of_the_student(batches):
    student, teacher = nn.Linear(4, 2), nn.Linear(4, 2)
    opt = torch.optim.SGD(student.parameters(), lr=0.1)
    for x in batches:
        with torch.no_grad():
            wanted = teacher(x)
        loss = (student(x) - wanted).pow(2).mean()
        student.zero_grad()
        loss.backward()
        opt.step()


def validate(net, batches, criterion):
    net.eval()
    total = 0
    for x, y in batches:
        total += criterion(net(x), y)  # trap: eval-without-no-grad
    return total / len(batches)


def judge(net, batches):
    return validate(net, batches, nn.MSELoss()).item()


@torch.no_grad()
def equal(net, batches):
    net.eval()
    hits = same = 0
    for x, label in batches:
        prob = torch.sigmoid(net(x))
        hits += (prob == label).sum().item()  # trap: scores-for-labels
        same += (prob.round() == label).sum().item()
    return hits, same
""",
    "frozen-batchnorm-still-updates: made and frozen by a function": """
import torch
from torch import nn
from torchvision.models import resnet18


def build():
    net = resnet18(weights=None)
    for p in net.parameters():
        p.requires_grad_(False)
    net.fc = nn.Linear(512, 2)
    return net


def train(model, loader):
    optimizer = torch.optim.Adam(model.fc.parameters(), lr=1e-3)
    model.train()  # trap: frozen-batchnorm-still-updates
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


def start(loader):
    train(build(), loader)
""",
    "frozen-batchnorm-still-updates: a factory makes both": """
import torch
from torch import nn
from torchvision.models import resnet18


def make():
    return resnet18(weights=None)


def distil(nets, loader, optimizer):
    student, teacher = nets["student"], nets["teacher"]
    student.train()
    for x in loader:
        optimizer.zero_grad()
        with torch.no_grad():
            wanted = teacher(x)
        nn.functional.mse_loss(student(x), wanted).backward()
        optimizer.step()


def start(loader):
    student, teacher = make(), make()
    teacher.eval()
    for p in teacher.parameters():
        p.requires_grad = False
    distil({"student": student, "teacher": teacher}, loader, torch.optim.SGD(student.parameters(), 0.1))


def dropped(device):
    x = torch.randn(3)
    x.to(device)  # trap: discarded-move
    return x
""",
}


@pytest.mark.parametrize("slug", SPELLINGS)
def test_all_rules_flag_exactly_the_marked_lines(slug: str) -> None:
    text = SPELLINGS[slug]
    marks = {(n, one) for n, line in enumerate(text.splitlines(), 1) for one in re.findall(r"# trap: ([\w-]+)", line)}
    said = {(found.line, found.slug) for found in engine.check_text(text, all_rules())}
    assert said == marks
    assert marks
