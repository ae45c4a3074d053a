"""The most usual traps as people spell them in forums, small and whole: the marked lines are found, and no other."""

import re

import pytest

from torchlore.check import engine
from torchlore.cli.check import all_rules

PROGRAMS = """\
=== softmax-before-cross-entropy
import torch
from torch import nn
def build(d, c):
    net = nn.Sequential()
    net.add_module("fc1", nn.Linear(d, 64))
    net.add_module("act", nn.ReLU())
    net.add_module("fc2", nn.Linear(64, c))
    net.add_module("prob", nn.Softmax(dim=1))  # trap: softmax-before-cross-entropy
    return net
def train(loader, epochs=3):
    net = build(20, 5)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    ce = nn.CrossEntropyLoss()
    for _ in range(epochs):
        for x, y in loader:
            opt.zero_grad()
            ce(net(x), y).backward()
            opt.step()
=== softmax-before-cross-entropy
import torch
from collections import OrderedDict
import torch.nn as nn
model = nn.Sequential(OrderedDict([
    ("hidden", nn.Linear(784, 128)),
    ("relu", nn.ReLU()),
    ("output", nn.Linear(128, 10)),
    ("softmax", nn.Softmax(dim=1)),  # trap: softmax-before-cross-entropy
]))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters())
def fit(loader):
    for images, labels in loader:
        optimizer.zero_grad()
        loss = criterion(model(images.view(images.shape[0], -1)), labels)
        loss.backward()
        optimizer.step()
=== state-dict-alias
import torch
from dataclasses import dataclass
from torch import nn
@dataclass
class Best:
    score: float = float("inf")
    state: dict = None
class Trainer:
    def __init__(self, model: nn.Module, lr):
        self.model = model
        self.opt = torch.optim.AdamW(model.parameters(), lr=lr)
        self.best = Best()
    def fit(self, train_loader, val_loader, epochs):
        for _ in range(epochs):
            self.model.train()
            for x, y in train_loader:
                self.opt.zero_grad()
                nn.functional.mse_loss(self.model(x), y).backward()
                self.opt.step()
            score = self.validate(val_loader)
            if score < self.best.score:
                self.best = Best(score, self.model.state_dict())  # trap: state-dict-alias
        self.model.load_state_dict(self.best.state)
    @torch.no_grad()
    def validate(self, loader):
        self.model.eval()
        return sum(nn.functional.mse_loss(self.model(x), y).item() for x, y in loader) / len(loader)
=== functional-dropout-always-on
import torch
from functools import partial
import torch.nn as nn
import torch.nn.functional as F
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(10, 20)
        self.b = nn.Linear(20, 2)
        self.drop = partial(F.dropout, p=0.5)  # trap: functional-dropout-always-on
    def forward(self, x):
        return self.b(self.drop(F.relu(self.a(x))))
=== modules-in-plain-container
import torch.nn as nn
class Multi(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.trunk = nn.Linear(32, 32)
        self.heads = dict((t, nn.Linear(32, n)) for t, n in tasks.items())  # trap: modules-in-plain-container
    def forward(self, x):
        h = self.trunk(x).relu()
        return {t: head(h) for t, head in self.heads.items()}
=== discarded-move
import torch
def step(model, batch, device):
    for t in batch:
        t.to(device)  # trap: discarded-move
    x, y = batch
    return torch.nn.functional.cross_entropy(model(x), y)
=== loop-variable-rebound
import torch
def step(model, batch, device):
    for k, v in batch.items():
        v = v.to(device)  # trap: loop-variable-rebound
    out = model(**batch)
    return out.loss
=== requires-grad-on-module
import torchvision
from torch import nn
model = torchvision.models.resnet50(weights="DEFAULT")
for child in list(model.children())[:7]:
    child.requires_grad = False  # trap: requires-grad-on-module
model.fc = nn.Linear(2048, 10)
=== handle-opened-before-fork
import h5py
import torch
from torch.utils.data import Dataset, DataLoader
class H5(Dataset):
    def __init__(self, path):
        self.file = h5py.File(path, "r")  # trap: handle-opened-before-fork
        self.x = self.file["x"]
    def __len__(self):
        return len(self.x)
    def __getitem__(self, i):
        return torch.from_numpy(self.x[i])
def loaders(path):
    return DataLoader(H5(path), batch_size=32, num_workers=8, shuffle=True)
=== loss-rewrapped
import torch
def train(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        pred = net(x).argmax(dim=1).float().requires_grad_()  # trap: loss-rewrapped
        loss = torch.nn.functional.mse_loss(pred, y.float())
        opt.zero_grad()
        loss.backward()
        opt.step()
=== copy-is-the-same-module
import torch, copy
def train(net, loader, opt):
    ema = net  # trap: copy-is-the-same-module
    for x, y in loader:
        opt.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
        with torch.no_grad():
            for e, p in zip(ema.parameters(), net.parameters()):
                e.mul_(0.999).add_(p, alpha=0.001)
    return ema
=== bootstrap-target-attached
import torch
from torch import nn
def learn(q, target, opt, batch, gamma):
    s, a, r, s2, done = batch
    qa = q(s).gather(1, a)
    nxt = q(s2).max(1)[0].unsqueeze(1)  # trap: bootstrap-target-attached
    y = r + gamma * nxt * (1 - done)
    loss = nn.functional.mse_loss(qa, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
=== best-never-updated
import torch
def train(net, train_loader, val_loader, opt, crit):
    for epoch in range(100):
        best = float("inf")  # trap: best-never-updated
        for x, y in train_loader:
            opt.zero_grad()
            crit(net(x), y).backward()
            opt.step()
        with torch.no_grad():
            net.eval()
            val = sum(crit(net(x), y).item() for x, y in val_loader) / len(val_loader)
            net.train()
        if val < best:
            best = val
            torch.save(net.state_dict(), "best.pt")
=== requires-grad-on-module
import torchvision
from torch import nn
model = torchvision.models.resnet50(weights="DEFAULT")
model.layer1.requires_grad = False  # trap: requires-grad-on-module
model.layer4[2].requires_grad = False  # trap: requires-grad-on-module
setattr(model.conv1, "requires_grad", False)  # trap: requires-grad-on-module
for part in model.conv1, model.bn1:
    part.requires_grad = False  # trap: requires-grad-on-module
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(*list(model.children())[:-1])
        for part in self.body[:5]:
            part.requires_grad = False  # trap: requires-grad-on-module
=== clean
import torch
from torch import nn
def build(width, out):
    net = nn.Sequential()
    net.add_module("in", nn.Linear(width, 64))
    net.add_module("softmax", nn.Softmax(dim=1))
    net.add_module("out", nn.Linear(64, out))
    return net
def train(loader, batch, device):
    net = build(20, 5)
    for parameter in list(net.parameters())[:2]:
        parameter.requires_grad = False
    batch = {key: value.to(device) for key, value in batch.items()}
    for name, part in net.named_children():
        part = part.to(device)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(3):
        lowest = float("inf")
        for x, y in loader:
            opt.zero_grad()
            loss = nn.CrossEntropyLoss()(net(x), y)
            loss.backward()
            opt.step()
            if loss.item() < lowest:
                lowest = loss.item()
=== softmax-without-dim
import torch
import torch.nn.functional as F
def predict(model, loader):
    out = []
    model.eval()
    with torch.no_grad():
        for x, _ in loader:
            logits = model(x)
            probs = F.softmax(logits, dim=0)  # trap: softmax-without-dim
            out.append(probs)
    return torch.cat(out)
=== random-aug-in-eval-transform
from torchvision import transforms, datasets
from torch.utils.data import DataLoader
tf = transforms.Compose([
    transforms.RandomResizedCrop(224),
    transforms.RandomHorizontalFlip(),
    transforms.ToTensor(),
    transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
])
train_ds = datasets.ImageFolder("data/train", transform=tf)
val_ds = datasets.ImageFolder("data/val", transform=tf)  # trap: random-aug-in-eval-transform
train_dl = DataLoader(train_ds, 32, shuffle=True)
val_dl = DataLoader(val_ds, 32)
=== view-as-transpose
import torch
import torch.nn.functional as F
def iou(pred, target, n):
    # pred, target: (N, H, W)
    p = F.one_hot(pred, n).permute(0, 3, 1, 2)
    t = F.one_hot(target, n).view(-1, n, target.shape[1], target.shape[2])  # trap: view-as-transpose
    inter = (p & t).sum((2, 3))
    return inter
=== reduced-over-the-batch
import torch
import torch.nn.functional as F
def info_nce(a, b, t=0.1):
    a = F.normalize(a, dim=0)  # trap: reduced-over-the-batch
    b = F.normalize(b, dim=1)
    logits = a @ b.T / t
    return F.cross_entropy(logits, torch.arange(a.size(0), device=a.device))
=== loss-args-swapped
import torch
import torch.nn as nn
crit = nn.TripletMarginLoss()
def step(net, anchor, pos, neg, opt):
    loss = crit(net(anchor), net(neg), net(pos))  # trap: loss-args-swapped
    opt.zero_grad()
    loss.backward()
    opt.step()
=== same-data-on-every-rank
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
def main(rank, ds, net):
    dist.init_process_group("nccl")
    net = DDP(net.cuda(rank), device_ids=[rank])
    loader = DataLoader(ds, batch_size=32, shuffle=True)  # trap: same-data-on-every-rank
    opt = torch.optim.SGD(net.parameters(), 0.1)
    for epoch in range(10):
        for x, y in loader:
            opt.zero_grad()
            torch.nn.functional.cross_entropy(net(x.cuda(rank)), y.cuda(rank)).backward()
            opt.step()
=== hook-hoards-activations
import torch
def collect(model, loader):
    outs = {}
    for x, _ in loader:
        for name, m in model.named_modules():
            m.register_forward_hook(lambda mod, inp, out, name=name: outs.__setitem__(name, out.detach()))  # trap: hook-hoards-activations
        model(x)
    return outs
=== state-dict-changed-in-vain
import torch
from torch import nn
def load(net, path):
    state = torch.load(path)
    own = net.state_dict()
    for k, v in state.items():
        if k in own:
            own[k] = v  # trap: state-dict-changed-in-vain
    return net
=== eval-mode-missing
import torch
from torch import nn
class Wrap:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.3), nn.Linear(4, 2))
    def predict(self, loader):
        out = []
        with torch.no_grad():
            for x in loader:
                out.append(self.net(x).argmax(1))  # trap: eval-mode-missing
        return torch.cat(out)
    def fit(self, loader):
        opt = torch.optim.Adam(self.net.parameters())
        for x, y in loader:
            opt.zero_grad()
            nn.functional.cross_entropy(self.net(x), y).backward()
            opt.step()
=== trainable-layer-under-no-grad
import torch
from torch import nn
def train(enc, head, loader):
    opt = torch.optim.Adam([*enc.parameters(), *head.parameters()])
    for x, y in loader:
        with torch.no_grad():  # trap: trainable-layer-under-no-grad
            h = enc(x)
        loss = nn.functional.cross_entropy(head(h), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
=== accuracy-over-batches
import torch
def evaluate(net, loader, batch_size=64):
    right = 0
    net.eval()
    with torch.no_grad():
        for x, y in loader:
            right += (net(x).argmax(1) == y).sum().item()
    return right / (len(loader) * batch_size)  # trap: accuracy-over-batches
=== state-dict-alias
def train(model, loader, opt, crit, better):
    best = None
    for epoch in range(9):
        for x, y in loader:
            opt.zero_grad()
            crit(model(x), y).backward()
            opt.step()
        if better(model):
            best = {k: v.detach() for k, v in model.state_dict().items()}  # trap: state-dict-alias
    model.load_state_dict(best)
=== clean
import torch
import torch.nn.functional as F
from torch import nn
def barlow(a, b):
    a, b = F.normalize(a, dim=0), F.normalize(b, dim=0)
    return ((a.T @ b - torch.eye(a.size(1))) ** 2).sum()
def fit(encoder, head, model, loader, opt, crit, better):
    best, opt_head = None, torch.optim.Adam(head.parameters())
    handle = encoder.register_forward_hook(print)
    for x, y in loader:
        with torch.no_grad():
            h = encoder(x)
        opt_head.zero_grad()
        crit(head(h), y).backward()
        opt_head.step()
        if better(head):
            best = {k: v.detach().clone() for k, v in head.state_dict().items()}
    head.load_state_dict(best)
    own = model.state_dict()
    for k, v in best.items():
        if k in own:
            own[k] = v
    model.load_state_dict(own)
=== scaler-fitted-on-test-data
import torch
from sklearn.preprocessing import StandardScaler
def prepare(xtr, xte):
    s = StandardScaler()
    xtr = s.fit_transform(xtr)
    xte = s.fit_transform(xte)  # trap: scaler-fitted-on-test-data
    return torch.tensor(xtr), torch.tensor(xte)
=== pairs-shuffled-apart
import os
import torch
from torch.utils.data import Dataset
class Pairs(Dataset):
    def __init__(self, images, masks):
        self.images = [os.path.join(images, f) for f in os.listdir(images)]  # trap: pairs-shuffled-apart
        self.masks = [os.path.join(masks, f) for f in os.listdir(masks)]
    def __getitem__(self, i):
        return self.images[i], self.masks[i]
    def __len__(self):
        return len(self.images)
=== label-map-interpolated
import torchvision.transforms.functional as TF
from torchvision.transforms import InterpolationMode
def pair(img, mask, size):
    img = TF.resize(img, size)
    mask = TF.resize(mask, size, InterpolationMode.BILINEAR)  # trap: label-map-interpolated
    return TF.to_tensor(img), TF.pil_to_tensor(mask).long()
=== zero-initialised-hidden
from torch import nn
class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 50), nn.ReLU(), nn.Linear(50, 2))
        for m in self.net:
            if isinstance(m, nn.Linear):
                nn.init.zeros_(m.weight)  # trap: zero-initialised-hidden
                nn.init.zeros_(m.bias)
    def forward(self, x):
        return self.net(x)
=== masked-mean-counts-padding
import torch
from torch import nn
class Bag(nn.Module):
    def __init__(self, v):
        super().__init__()
        self.e = nn.Embedding(v, 64, padding_idx=0)
        self.fc = nn.Linear(64, 3)
    def forward(self, ids):
        return self.fc(self.e(ids).mean(dim=1))  # trap: masked-mean-counts-padding
=== frozen-network-in-train-mode
import torch
from torch import nn
import torchvision
def distill(loader):
    teacher = torchvision.models.resnet50(weights="DEFAULT")
    student = torchvision.models.resnet18()
    opt = torch.optim.SGD(student.parameters(), 0.1)
    for x, y in loader:
        with torch.no_grad():
            t = teacher(x)  # trap: frozen-network-in-train-mode
        s = student(x)
        loss = nn.functional.kl_div(s.log_softmax(1), t.softmax(1), reduction="batchmean")
        opt.zero_grad()
        loss.backward()
        opt.step()
=== terminal-state-bootstrapped
import torch
from torch.nn import functional as F
def learn(q, tgt, opt, s, a, r, s2, done, gamma=0.99):
    with torch.no_grad():
        y = r + gamma * tgt(s2).max(1)[0] * done  # trap: terminal-state-bootstrapped
    loss = F.mse_loss(q(s).gather(1, a.unsqueeze(1)).squeeze(1), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
=== adversaries-agree
import torch
def train(G, D, loader):
    og = torch.optim.RMSprop(G.parameters(), 5e-5)
    od = torch.optim.RMSprop(D.parameters(), 5e-5)
    for real in loader:
        z = torch.randn(len(real), 100)
        od.zero_grad()
        loss_d = -D(real).mean() + D(G(z).detach()).mean()
        loss_d.backward()
        od.step()
        og.zero_grad()
        loss_g = D(G(z)).mean()  # trap: adversaries-agree
        loss_g.backward()
        og.step()
=== auc-of-hard-labels
import torch
from sklearn.metrics import roc_auc_score
def auc(net, loader):
    ys, ps = [], []
    net.eval()
    with torch.no_grad():
        for x, y in loader:
            ps += (torch.sigmoid(net(x)) > 0.5).int().flatten().tolist()
            ys += y.tolist()
    return roc_auc_score(ys, ps)  # trap: auc-of-hard-labels
=== view-as-transpose
import cv2
import torch
def load(path):
    img = cv2.cvtColor(cv2.imread(path), cv2.COLOR_BGR2RGB)
    h, w, c = img.shape
    return torch.from_numpy(img).view(c, h, w).float() / 255  # trap: view-as-transpose
=== straight-through-negated
import torch
def quantize(z, codebook):
    idx = torch.cdist(z, codebook).argmin(1)
    q = codebook[idx]
    z_q = z + (q - z)  # trap: straight-through-negated
    return z_q, idx
=== noise-drawn-once
import torch
import torchvision.transforms as T
from torch.utils.data import Dataset
class Small(Dataset):
    def __init__(self, images, labels):
        aug = T.Compose([T.RandomHorizontalFlip(), T.ToTensor()])
        self.x = [aug(i) for i in images]  # trap: noise-drawn-once
        self.y = labels
    def __getitem__(self, i):
        return self.x[i], self.y[i]
    def __len__(self):
        return len(self.x)
=== decay-compounds
import torch
def train(net, loader, epochs):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for e in range(epochs):
        for g in opt.param_groups:
            g["lr"] = g["lr"] * (1 - e / epochs)  # trap: decay-compounds
        for x, y in loader:
            opt.zero_grad()
            torch.nn.functional.cross_entropy(net(x), y).backward()
            opt.step()
=== masked-score-keeps-weight
import torch
def attention(q, k, v, mask):
    s = (q @ k.transpose(-2, -1) / q.size(-1) ** 0.5).softmax(-1)
    s = s.masked_fill(mask == 0, 0)  # trap: masked-score-keeps-weight
    return s @ v
=== modules-in-plain-container
from torch import nn
class Res(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.c = nn.Conv2d(i, o, 3, padding=1)
        proj = nn.Conv2d(i, o, 1)
        self.skip = lambda x: proj(x)  # trap: modules-in-plain-container
    def forward(self, x):
        return self.c(x) + self.skip(x)
=== weights-favour-the-common
import torch
from torch import nn
pos, neg = 100, 900
crit = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([pos / neg]))  # trap: weights-favour-the-common
=== train-mode-not-restored
import torch
from torch import nn, optim
def training(model, train_loader, val_loader, epochs):
    criterion, optimizer = nn.CrossEntropyLoss(), optim.Adam(model.parameters())
    for epoch in range(epochs):
        for x, y in train_loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
        model.eval()  # trap: train-mode-not-restored
        with torch.no_grad():
            print(sum(criterion(model(x), y).item() for x, y in val_loader))
    model.train()
=== clean
import os
import torch
from torch import nn
from torch.utils.data import Dataset
class Pairs(Dataset):
    def __init__(self, images, masks):
        names = sorted(os.listdir(images))
        self.images = [os.path.join(images, f) for f in names]
        self.masks = [os.path.join(masks, f) for f in names]
    def __getitem__(self, i):
        return self.images[i], self.masks[i]
class Bag(nn.Module):
    def __init__(self, words):
        super().__init__()
        self.embed = nn.Embedding(words, 64, padding_idx=0)
    def forward(self, ids):
        return self.embed(ids).sum(1) / (ids != 0).sum(1, keepdim=True)
def target(net, reward, next_state, done, gamma=0.99):
    with torch.no_grad():
        return reward + gamma * net(next_state).max(1)[0] * (1 - done)
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
