"""What the looks at fresh repositories showed to be no trap, where a note's cases cannot say it: a whole file, or a severity."""

import pytest

from torchlore.check import engine
from torchlore.cli import main

HDF5 = """
import h5py
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, path):
        self.file = h5py.File(path)

    def __getitem__(self, index):
        return self.file["x"][index]

loader = DataLoader(Rows("a.h5"), 8, num_workers=WORKERS)
"""
FILLED = """
import torch
from torch import nn

class Cell(nn.Module):
    def __init__(self, size):
        super(Cell, self).__init__()
        self.weight = nn.Parameter(torch.Tensor(size, size))

    def forward(self, x):
        return x @ self.weight

class Whole(nn.Module):
    def __init__(self, size):
        super(Whole, self).__init__()
        self.cell = Cell(size)
        FILL

    def reset_parameters(self):
        for weight in self.parameters():
            weight.data.uniform_(-0.1, 0.1)
"""
RESUMED = """
import torch

def build(net, path, fresh):
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    if not fresh:
        optimizer.load_state_dict(torch.load(path)["optimizer"])
        LEAVE
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    return optimizer
"""
LAST_STATES = """
from torch import nn

class BothWays(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.hidden = hidden
        self.rnn = nn.LSTM(width, hidden, bidirectional=True, batch_first=True)

    def join(self, last):
        return last.JOIN

    def forward(self, x):
        out, (last, cell) = self.rnn(x)
        return self.join(last), out.reshape(-1, self.hidden * 2)
"""
WHOLE = """
import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 2))
torch.save(KEPT, "a.pt")
other = nn.Sequential(nn.Linear(4, 2))
other.load_state_dict(torch.load("a.pt", map_location="cpu"), strict=False)
"""
TRANSLATES = """
import torch
from torch import nn

class Translator(nn.Module):
    def __init__(self, words):
        super().__init__()
        self.words, self.body, self.out = nn.Embedding(words, 16), nn.Transformer(16, 2), nn.Linear(16, words)

    def forward(self, src, tgt, src_mask):
        mask = nn.Transformer.generate_square_subsequent_mask(tgt.size(1))
        return self.out(self.body(self.words(src), self.words(tgt), src_mask, MASK))

def step(model, src, tgt, src_mask, criterion):
    return nn.CrossEntropyLoss()(model(src, tgt[:, :-1], src_mask).flatten(0, 1), tgt[:, 1:].flatten())
"""
ADVERSARIES = """
import torch
from torch import nn

maker, judge = nn.Linear(4, 2), nn.Linear(2, 1)
opt_m = torch.optim.Adam(maker.parameters())
opt_j = torch.optim.Adam(judge.parameters())
for real in torch.randn(9, 8, 2):
    opt_m.zero_grad()
    (-judge(maker(torch.randn(8, 4))).mean()).backward()
    opt_m.step()
    BEFORE
    (judge(maker(torch.randn(8, 4)).detach()).mean() - judge(real).mean()).backward()
    opt_j.step()
    AFTER
"""
HALF = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(4, 8), nn.Linear(8, 2)
        FREEZE

    def forward(self, x):
        return self.head(self.body(x))

net = Net()
optimizer = torch.optim.SGD(net.head.parameters(), 0.1)
for x, y in LOADER:
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
"""
TAUGHT = """
import torch
from torch import nn
from torch.nn import functional as F

def taught_first(batches, lessons):
    student, teacher = nn.Linear(4, 2), nn.Linear(4, 2)
    alone = torch.optim.Adam(teacher.parameters())
    for x, y in lessons:
        alone.zero_grad()
        F.cross_entropy(teacher(x), y).backward()
        alone.step()
    optimizer = torch.optim.Adam([*student.parameters(), *teacher.parameters()])
    for x in batches:
        with CONTEXT:
            soft = teacher(x).softmax(1)
        optimizer.zero_grad()
        F.kl_div(F.log_softmax(student(x), 1), soft, reduction="batchmean").backward()
        optimizer.step()
"""
LESSON = """
import torch
x = torch.ones(3, 4)
x.view(-1, 1)
x.dim()
x.view(-1, 4)
x.add(x)
"""
SIAMESE = """
import torch
from torch.utils.data import DataLoader
from torchvision import datasets

def train(model, opt, root):
    data = datasets.ImageFolder(root)
    train_loader = DataLoader(data, 8, shuffle=True)
    for x, y in train_loader:
        opt.zero_grad()
        model(x, y).backward()
        opt.step()
    train_loader = DataLoader(data, 1, shuffle=False)
    pairs = iter(train_loader)
    USE
"""
UNSAFE = (
    "import torch\nfrom huggingface_hub import hf_hub_download\nstate = torch.load(PATH, 'cpu', weights_only=False)\n"
)
SAVED = """
import torch
from torch import nn
model = nn.Linear(2, 2)
torch.save(model, "whole.pt")
"""
METER = """
import torch

class Mean:
    def __init__(self):
        self.seen = []

    def append(self, value):
        self.seen.append(value.item())

def train(model, loader, opt, loss_of):
    mean = Mean()
    for x, y in loader:
        loss = loss_of(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        mean.append(loss)
"""
HOOKED = """
import torch
from torch import nn

def maps(model, x):
    kept = []

    def keep(module, given, output):
        kept.append(output)

    handle = model.last.register_forward_hook(keep)
    model(x).sum().backward()
    REMOVED
    return kept[0]
"""
VOLATILE = """
from torch.autograd import Variable

def evaluate(solver, net, boxes, loader):
    boxes = Variable(boxes.cuda(), volatile=True)
    return solver.validate(CALL)
"""
RETAINED = """
def train(loader, model, opts, losses_of):
    for x in loader:
        losses = losses_of(model(x))
        for opt, loss in zip(opts, losses):
            opt.zero_grad()
            loss.backward(retain_graph=True)
            opt.step()
"""
AGAIN = """
from torch.utils.data import DataLoader

def train(data, model, opt):
    loader = DataLoader(data, 8, shuffle=SHUFFLE)
    for _ in range(9):
        x, y = next(iter(loader))
        opt.zero_grad()
        model(x, y).backward()
        opt.step()
"""
DETECTOR = """
import torch
from torch import nn

def validate(detector, batches):
    total = 0.0
    for images, targets in batches:
        with torch.no_grad():
            loss_dict = detector(CALL)
        total += sum(loss_dict.values())
    return total

def train(batches):
    detector = nn.Sequential(nn.Linear(4, 2), nn.BatchNorm1d(2))
    opt = torch.optim.SGD(detector.parameters(), 0.1)
    for _ in range(3):
        for images, targets in batches:
            opt.zero_grad()
            sum(detector(images, targets).values()).backward()
            opt.step()
        validate(detector, batches)
"""
TOGETHER = """
import torch
from torch import nn

body, head = nn.Sequential(nn.Linear(4, 4), nn.Dropout()), nn.Sequential(nn.Linear(4, 2), nn.Dropout())
opt = torch.optim.SGD([*body.parameters(), *head.parameters()], 0.1)

def train(loader, val_loader):
    for _ in range(3):
        for x, y in loader:
            opt.zero_grad()
            nn.functional.cross_entropy(head(body(x)), y).backward()
            opt.step()
        for net in NETS:
            net.eval()
        for x, y in val_loader:
            with torch.no_grad():
                print((head(body(x)).argmax(1) == y).sum())
        for net in [body, head]:
            net.train()
"""
OVERRIDDEN = """
from torch import nn

class GAN(nn.Module):
    def train(self, loader):
        for x in loader:
            self.step(x)

gan = GAN()
"""
PREFIXED = """
import torch
from torch import nn

def load(model, path):
    state = torch.load(path)
    if isinstance(model, nn.DataParallel):
        model.module.load_state_dict(state, strict=False)
    else:
        model.load_state_dict(state, strict=False)
"""
LOSS = """
from torch import nn

class Segments(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = weight

    def forward(self, x, y):
        return LAYER(x, y)
"""
JACOBIAN = """
def jacobian(net, x, opt):
    output = net(x)
    for i in range(10):
        opt.zero_grad()
        output[0][i].backward(retain_graph=True)
        opt.step()
"""
ENTRIES = """
import torch

def losses(parts, n):
    found = [torch.tensor(0.0)] * n
    for i in range(n):
        FIRST
        found[i] += parts[i]
    return found
"""
JUDGE = """
import torch
from torch import nn

class Trainer:
    def __init__(self, loader):
        self.net, self.loader = nn.Linear(4, 4), loader
        self.judge = nn.Sequential(nn.Linear(4, 2), nn.Dropout())
        FIRST
        self.opt = torch.optim.SGD(self.net.parameters(), 0.1)

    def fit(self):
        for _ in range(3):
            for x, y in self.loader:
                self.opt.zero_grad()
                nn.functional.cross_entropy(self.judge(self.net(x)), y).backward()
                self.opt.step()
            self.judge.eval()
"""
SCORES = """
from sklearn.metrics import precision_recall_fscore_support

def scores(net_pred, labels, attempt_labels):
    SECOND
    return precision_recall_fscore_support(net_pred, attempt_labels)
"""
OPENED = """
from PIL import Image
from torchvision.transforms.functional import to_tensor

def main(PATH):
    return to_tensor(Image.open(path))
"""
WIDTH = """
from torch.nn import functional as F

def NAME(logits, labels):
    return F.one_hot(labels) * logits
"""
UNFOLDED = """
def frames(x, unfold):
    y = unfold(x).permute(0, 2, 1).contiguous()
    a, t, d = y.size()
    return y.view(FIRST, -1, 2)
"""
HEADED = """
import torch
from torch import nn
from torchvision import models

model = models.mobilenet_v2()
model.classifier = HEAD
loss_of = nn.NLLLoss()

def train(loader):
    for x, y in loader:
        loss_of(model(x), y).backward()
"""
REFRESHED = """
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
opt = torch.optim.SGD(model.parameters(), 0.1)

def train(loader):
    for x, y in loader:
        opt.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        opt.step()
    AGAIN
    with torch.no_grad():
        for x, _ in loader:
            model(x)
"""
POOLED = """
from torch import nn

class Pooled(nn.Module):
    def __init__(self):
        super().__init__()
        self.NAME = nn.Sequential(nn.Linear(8, 4), nn.Tanh(), nn.Linear(4, 1), nn.Softmax(dim=1))
"""
KEPT = """
import torch
from torch import nn

class Solver:
    def __init__(self, loader):
        self.model, self.loader, self.best = nn.Linear(2, 2), loader, 9.0
        self.opt = torch.optim.SGD(self.model.parameters(), 0.1)

    def save(self, state, path):
        torch.save(state, path)

    def train(self, loss_of):
        for x, y in self.loader:
            loss = loss_of(self.model(x), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            if loss < self.best:
                state = {}
                state["model"] = self.model.state_dict()
                self.save(state, "best.pt")
                self.best = loss.item()
        USE
"""
BORROWED = """
from torch import nn

class Encoder(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(2, 2))
        self.parts = {name: part for name, part in self.encoder.named_children()}
"""
BY_HAND = """
import torch
from torch import nn

class Base(nn.Module):
    def optimizers(self):
        return {name: torch.optim.SGD(net.parameters(), 0.1) for name, net in self.nets.items()}

    def start(self):
        for name, net in self.nets.items():
            CALL

class Pair(Base):
    def __init__(self):
        super().__init__()
        self.nets = {}
        self.nets["body"] = nn.Linear(2, 2)
"""
SMOOTHED = """
import torch
from torch import nn

class Smoothed(nn.Module):
    def __init__(self):
        super().__init__()
        self.criterion = nn.KLDivLoss(reduction="sum")

    def forward(self, x, y):
        x = nn.functional.log_softmax(x, dim=-1)
        wanted = x.data.clone()
        FILL
        return self.criterion(x, wanted)
"""
DIVERGENCE = "from torch.nn import functional as F\n\ndef loss(a, b, t):\n    return F.kl_div(a, b) * t**2FACTOR\n"
BRANCHES = """
import torch
from torch import nn

def train(model, loader, opt, several):
    for epoch, (x, y) in enumerate(loader):
        opt.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        opt.step()
        if epoch % 10 == 0:
            if several:
                state = model.module.state_dict()
            else:
                state = model.state_dict()
            torch.save({"state": state}, "last.pt")
    AFTER
"""
NAMED = """
import torch
from torch import nn

class Task:
    def __init__(self, data):
        self.model, self.data = nn.Sequential(nn.Linear(2, 2), nn.Dropout()), data

def run(task, opt):
    for x, y in task.data:
        loss = nn.functional.cross_entropy(task.model(x), y)
        if opt:
            opt.zero_grad()
            loss.backward()
            opt.step()

def fit(data):
    task = Task(data)
    model, data = task.model, task.data
    opt = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(3):
        model.train()
        run(task, opt)
        SWITCH
        with torch.no_grad():
            run(task, None)
"""
SUMMED = """
from torch.nn import functional as F

def train(decoder, words, opt):
    for i in range(1, 9):
        out = decoder(words[i - 1])
        if i == 1:
            loss = F.cross_entropy(out, words[i])
        else:
            loss += F.cross_entropy(out, words[i])
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
AVERAGES = """
from torch import nn

class Average(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size
        self.pool = LAYER

    def forward(self, x):
        if isinstance(self.size, list):
            self.size = self.size[0]
        return self.pool(x)

class Several(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.averages = [Average(size) for size in sizes]

    def forward(self, x):
        return sum(one(x) for one in self.averages)
"""


ADAPTED = """
import torch

def meta(policies, learner, optimizer, rounds):
    for _ in range(rounds):
        total = 0.0
        for old in policies:
            clone = learner.clone()
            clone.METHOD(old.loss())
            total = total + clone.gap(old)
        optimizer.zero_grad()
        total.backward(retain_graph=True)
        optimizer.step()
"""
SHAPED = """
import torch
from torch.utils.data import DataLoader

def measure(net, data, batch_size):
    test_loader = DataLoader(data, batch_size=batch_size, drop_last=True)
    return [net(torch.reshape(x, SHAPE)) if False else net(x.view(SHAPE)) for x in test_loader]
"""


LESSON_OF_LOGS = """
import torch

scores = torch.nn.Linear(4, 3)(torch.randn(2, 4))
logs = torch.log(torch.softmax(scores, dim=-1))
print(logs)

def train(loss):
    BACK
"""


TOY = """
import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

def rows(path):
    y = READ
    y = MinMaxScaler().fit_transform(y)
    return train_test_split(y)
"""
SUMMED_PAIRS = """
import torch
from torch import nn

class Pairs(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax()

    def forward(self, a, b):
        return self.softmax(torch.CALL(a, b.transpose(-2, -1)))
"""


CLIENTS = """
from torch import nn

class Client(nn.Module):
    def __init__(self, data):
        super().__init__()
        self.net, self.data = nn.Linear(4, 2), data

    def update(self, optimizer):
        for x, y in self.data:
            optimizer.zero_grad()
            nn.functional.cross_entropy(self.net(x), y).backward()
            optimizer.step()


class Server(nn.Module):
    def __init__(self, parts):
        super().__init__()
        self.net = nn.Linear(4, 2)
        self.clients = [Client(part) for part in parts]
"""
WINDOW = """
from torch import nn

def one_window(model, batches, optimizer, parts):
    total = None
    optimizer.zero_grad()
    for _ in range(parts):
        x, y = next(batches)
        loss = nn.functional.cross_entropy(model(x), y) / parts
        loss.backward()
        total = loss if total is None else total + loss
    optimizer.step()
    return total.item()
"""
TWOFOLD = """
import torch.nn.functional as F
from torch import nn

class Twofold(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.own, self.slow = nn.Linear(n, m), nn.Linear(n, m)

    def value(self, x, use_target=False):
        return self.slow(x) if use_target else self.own(x)

    def learn(self, state, action, reward, later, gamma):
        best = self.value(later, use_target=True).max(1)[0]
        wanted = (reward + gamma * best).view(-1, 1)
        return F.mse_loss(self.value(state).gather(1, action), wanted)
"""
BOTH_WAYS = """
import torch

def both_ways(packed, directions):
    rows, steps, width = packed.size()
    width = int(width / directions)
    return packed.view(rows, steps, directions, width)

def shuffled(x, factor):
    rows, channels, width = x.size()
    channels //= factor
    return x.contiguous().view(rows, channels, factor, width)
"""
BIAS = """
import torch

def attend(query, rows):
    bias = torch.zeros(rows, rows, dtype=query.dtype)
    bias.to(KIND)
    return query + bias
"""
SOLVER = """
import torch
from helpers import *

class Solver:
    def __init__(self, net, loader):
        self.net, self.loader, self.opt = net, loader, torch.optim.Adam(net.parameters())

    def step(self, x, y):
        loss = torch.nn.functional.mse_loss(self.net(x), y)
        HELPER([self.net])
        loss.backward()
        self.opt.step()

    def fit(self):
        for x, y in self.loader:
            self.step(x, y)
"""
COSINES = """
import torch
from torch import nn

class Contrast(nn.Module):
    def __init__(self):
        super().__init__()
        self.near, self.far = nn.CosineSimilarity(dim=1), nn.Bilinear(4, 4, 1)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, a, b):
        gap = CALL
        return -torch.log(self.softmax(torch.cat([gap, 1 - gap], dim=-1))).mean()
"""
PICKED = """
import torch.nn.functional as F

def certainty(logits, labels):
    return F.nll_loss(F.softmax(logits, dim=1), labels, reduction="HOW")
"""
PORT = """
import random
import torch

def run(seed):
    NAME = 50000 + random.randint(0, 100)
    torch.manual_seed(seed)
    return NAME
"""
PRIVATE = """
def private(engine, net, opt, loader):
    return engine.make_private(module=net, optimizer=opt, data_loader=loader)
"""
BRANCHED = """
import torch

def load(path):
    model = torch.nn.Linear(2, 2)
    state = torch.load(path, map_location="cpu")
    if "model" in state:
        # WHY
        model.load_state_dict(state["model"], strict=False)
    else:
        model.load_state_dict(state, strict=False)
    return torch.nn.DataParallel(model)
"""
FORGOTTEN = """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        LINE

    def init_weights(self):
        nn.init.xavier_uniform_(self.fc.weight)

net = Net()
"""


def said(rules, slug, text):
    """The severities of what one rule says."""
    return [found.severity.value for found in engine.check_text(text, {slug: rules[slug]})]


ORDERED = """
import torch
from torch.utils.data import DataLoader
from torchvision import datasets

def train(net, opt, root):
    train_loader = DataLoader(datasets.ImageFolder(root), 8)
    for x, y in train_loader:
        opt.zero_grad()
        torch.nn.functional.LOSS.backward()
        opt.step()
"""
WRAPPED = """
import torch
from torch import nn

def load(path):
    net = nn.Linear(2, 2)
    wide = nn.DataParallel(net)
    NAME.load_state_dict(torch.load(path), strict=False)
"""
CHOSEN = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.head = nn.Conv2d(3, 3, 1)
        if kind == "batch":
            self.norm = nn.BatchNorm2d(3)
        else:
            self.norm = nn.OTHER(3)

def show(path, x):
    net = Net("other")
    net.load_state_dict(torch.load(path, "cpu"))
    with torch.no_grad():
        return net(x)
"""
LOGARITHM = """
import torch

def NAME(logits, temperature):
    p = torch.softmax(SCORES, dim=1)
    return -torch.log(p).mean()
"""
QUEUED = """
import torch
IMPORT

def fill(queue, rows):
    batch = torch.zeros(4)
    for row in rows:
        batch[0] = row
        queue.put(batch)
"""
FILM = """
import cv2

def frames(path, wanted):
    clip = cv2.VideoCapture(path)
    count = int(clip.get(cv2.CAP_PROP_FRAME_COUNT))
    found = []
    for _ in range(LENGTH):
        _, frame = clip.read()
        found.append(cv2.cvtColor(frame, cv2.COLOR_BGR2RGB))
    return found, count
"""
OUTPUTS = """
import torch
from torch import nn

def fit(net: nn.Linear, loader, optimizer):
    kept = []
    for x, y in loader:
        optimizer.zero_grad()
        out = {"loss": nn.functional.cross_entropy(net(x), y), "n": len(x)}
        out["loss"].backward()
        optimizer.step()
        LINE
        kept.append(out)
    return kept
"""
COUNTED = """
import torch

def one_by_one(net, test_loader):
    right = total = 0
    for x, y in test_loader:
        right += (net(x).argmax(1) == y).sum().item()
        total += 1
    return right / total
"""
DRAWN = """
import torch
from torch import nn

def NAME(maker, fixed):
    with torch.no_grad():
        return maker(fixed).cpu()

def fit(batches, fixed):
    maker = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
    opt = torch.optim.SGD(maker.parameters(), 0.1)
    for step, (x, y) in enumerate(batches):
        opt.zero_grad()
        nn.functional.mse_loss(maker(x), y).backward()
        opt.step()
        if step % 100 == 0:
            NAME(maker, fixed)
"""
OLD = """
from torch.autograd import Variable

def test(net, criterion, loader):
    for x, y in loader:
        x, y = Variable(x, volatile=True), Variable(y, volatile=True)
        out = net(x)
        print(criterion(out, y))
"""


REGISTERED = """
from torch import nn

class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.width = n
        self.stages = [self.stage() for _ in range(n)]
        self.name_them()

    def stage(self):
        return nn.Linear(self.width, self.width)

    def name_them(self):
        for i, stage in enumerate(self.stages):
            NAME

    def forward(self, x):
        for stage in self.stages:
            x = stage(x)
        return x
"""
LOSSES = """
from torch import nn

class BoxLoss(nn.Module):
    def __init__(self, anchors, classes, size=1):
        super().__init__()
        self.anchors, self.entries = anchors, 5 + classes
        self.half = -size
        self.loss = LOSS

    def forward(self, x, y):
        return self.loss(x[..., : self.entries], y)

class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.body = nn.Linear(8, 8)
        self.losses = []
        for part in range(2):
            self.losses.append(BoxLoss(config[part], 20))

    def forward(self, x, y):
        return sum(loss(self.body(x), y) for loss in self.losses)
"""
STACKED = """
import torch
from torch import nn

class Scan(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.parts = (nn.Linear(n, n), nn.Linear(n, n))
        self.weight = nn.Parameter(torch.stack([one.weight for one in self.parts]))
        LAST

    def forward(self, x):
        return x @ self.weight[0]
"""
DRAWN_ONLY = """
from torch.utils.data import DataLoader

def show(test_set, net):
    test_loader = DataLoader(test_set, 8, drop_last=True)
    for x, _ in test_loader:
        WHAT
"""
BYTES = """
import numpy as np

def cut(NAME):
    return (NAME / 255.0).astype(np.uint8)
"""
NOISE = """
from torch import nn
from torch.nn import functional as F

class NAME(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(2, 2)

    def forward(self, x):
        return F.dropout(self.lin(x), 0.5)
"""
SWITCHED = """
import torch

def predict(net, batches):
    torch.set_grad_enabled(False)
    return [net(x) for x in batches]

def train(net, batches, opt):
    FIRST
    for x in batches:
        opt.zero_grad()
        net(x).mean().backward()
        opt.step()
"""
TRIAL = """
import torch

def resume(NAME, path):
    NAME = NAME.load_state_dict(torch.load(path))
    return NAME
"""
SHARE = """
import torch
from torch.utils.data import DataLoader

def test(net, data, size):
    test_loader = DataLoader(data, batch_size=size)
    acc = 0
    for x, y in test_loader:
        acc += (net(x).argmax(1) == y).sum().item()
    return acc / len(test_loader)BY
"""
SPLIT = """
import random
import torch

def NAME(edges):
    torch.manual_seed(234)
    return edges[torch.randperm(len(edges))]

def noise():
    return random.random()
"""
FIRST_BATCH = """
import torch
from torch import nn

class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 8)
        self.register_buffer("scale", torch.tensor([-1.0, 1.0]))

    def forward(self, x):
        out = self.net(x).exp()
        if TEST:
            self.scale[0] = out.mean()
        return out / self.scale[0].item()
"""
GPUS = """
def state(model, cfg):
    return model.state_dict() if cfg.num_gpus == 1 else model.module.state_dict()
"""
CHANCE = """
import random
import torch

def run(seed=None):
    FIRST
    torch.manual_seed(seed)
    return random.randint(0, 9)
"""
OBJECTS = """
import torch
from torch import nn

def hand_over(path):
    kept, loss = KEPT, nn.CrossEntropyLoss()
    torch.save({"kept": kept, "loss": loss}, path)
"""
SWITCHED_OFF = """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        CALL

    def init_weights(self):
        nn.init.xavier_uniform_(self.layer.weight)

net = Net()
"""
SHOWN = """
import random
import torch

FIRST
torch.manual_seed(0)
AFTER
"""


@pytest.mark.parametrize(
    ("slug", "text", "expected"),
    [
        ("modules-in-plain-container", REGISTERED.replace("NAME", "exec(f'self.stage{i} = stage')"), []),
        ("modules-in-plain-container", REGISTERED.replace("NAME", "setattr(self, f'stage{i}', stage)"), []),
        ("modules-in-plain-container", REGISTERED.replace("NAME", "print(i, stage)"), ["warning"]),
        (
            "modules-in-plain-container",
            REGISTERED.replace("for i, stage in enumerate(self.stages)", "for i in ()"),
            ["error"],
        ),
        ("modules-in-plain-container", LOSSES.replace("LOSS", "nn.MSELoss()"), []),
        ("modules-in-plain-container", LOSSES.replace("LOSS", "nn.Bilinear(4, 4, 1)"), ["error"]),
        ("modules-in-plain-container", STACKED.replace("LAST", "del self.parts"), []),
        ("modules-in-plain-container", STACKED.replace("LAST", "pass"), ["error"]),
        ("drop-last-in-evaluation", DRAWN_ONLY.replace("WHAT", "plot(net(x))"), ["hint"]),
        ("drop-last-in-evaluation", DRAWN_ONLY.replace("WHAT", "print(accuracy(net(x)))"), ["warning"]),
        ("float-image-cast-to-bytes", BYTES.replace("NAME", "patch_mask"), []),
        ("float-image-cast-to-bytes", BYTES.replace("NAME", "patch"), ["warning"]),
        ("functional-dropout-always-on", NOISE.replace("NAME", "UNetGenerator"), ["hint"]),
        ("functional-dropout-always-on", NOISE.replace("NAME", "UNet"), ["warning"]),
        ("set-grad-enabled-left-off", SWITCHED.replace("FIRST", "torch.set_grad_enabled(True)"), ["hint"]),
        ("set-grad-enabled-left-off", SWITCHED.replace("FIRST", "net.train()"), ["warning"]),
        ("load-state-dict-assigned", TRIAL.replace("NAME", "trial"), ["warning"]),
        ("load-state-dict-assigned", TRIAL.replace("NAME", "my_model"), ["error"]),
        ("accuracy-over-batches", SHARE.replace("BY", " / size"), []),
        ("accuracy-over-batches", SHARE.replace("BY", ""), ["error"]),
        ("torch-seed-alone", SPLIT.replace("NAME", "split_edges"), []),
        ("torch-seed-alone", SPLIT.replace("NAME", "train"), ["warning"]),
        ("buffer-updated-with-graph", FIRST_BATCH.replace("TEST", "self.scale[0] < 0"), ["warning"]),
        ("buffer-updated-with-graph", FIRST_BATCH.replace("TEST", "self.training"), ["warning"]),
        ("save-whole-module", OBJECTS.replace("KEPT", "3"), []),
        ("save-whole-module", OBJECTS.replace("KEPT", "nn.Linear(2, 2)"), ["warning"]),
        ("initialiser-reaches-nothing", SWITCHED_OFF.replace("CALL", "# self.init_weights()"), []),
        ("initialiser-reaches-nothing", SWITCHED_OFF.replace("CALL", "# nothing more"), ["warning"]),
        ("unwrap-by-gpu-count", GPUS, ["hint"]),
        ("unwrap-by-gpu-count", GPUS.replace("cfg.num_gpus", "torch.cuda.device_count()"), ["warning"]),
        ("torch-seed-alone", CHANCE.replace("FIRST", "seed = seed or 0"), ["warning"]),
        ("torch-seed-alone", CHANCE.replace("FIRST", "if not seed:\n        seed = random.randint(0, 99)"), []),
        ("torch-seed-alone", SHOWN.replace("FIRST", "print(random.choice('abc'))").replace("AFTER", ""), []),
        ("torch-seed-alone", SHOWN.replace("AFTER", "print(random.choice('abc'))").replace("FIRST", ""), ["warning"]),
        ("handle-opened-before-fork", HDF5.replace("WORKERS", "0"), []),
        ("handle-opened-before-fork", HDF5.replace("WORKERS", "4"), ["warning"]),
        ("discarded-tensor-op", LESSON, []),
        ("discarded-tensor-op", LESSON.replace("x.dim()\nx.view(-1, 4)\n", ""), ["warning", "error"]),
        ("train-loader-not-shuffled", SIAMESE.replace("USE", "evaluate(pairs, model)"), []),
        ("train-loader-not-shuffled", SIAMESE.replace("USE", "fit(pairs, model)"), ["warning"]),
        ("unsafe-torch-load", UNSAFE.replace("PATH", "path_of_mine"), ["hint"]),
        ("unsafe-torch-load", UNSAFE.replace("PATH", "hf_hub_download('a/b', 'c.pt')"), ["warning"]),
        ("save-whole-module", SAVED, ["warning"]),
        ("save-whole-module", SAVED + 'torch.save(model.state_dict(), "weights.pt")\n', ["hint"]),
        ("hook-hoards-activations", HOOKED.replace("REMOVED", "handle.remove()"), []),
        ("hook-hoards-activations", HOOKED.replace("REMOVED", "pass"), ["warning"]),
        ("variable-volatile", VOLATILE.replace("CALL", "net, boxes"), ["hint"]),
        ("variable-volatile", VOLATILE.replace("CALL", "boxes, net"), ["warning"]),
        ("retain-graph-habit", RETAINED, []),
        ("iter-rebuilt-in-loop", AGAIN.replace("SHUFFLE", "True"), ["hint"]),
        ("iter-rebuilt-in-loop", AGAIN.replace("SHUFFLE", "False"), ["warning"]),
        ("modules-in-plain-container", AVERAGES.replace("LAYER", "nn.AvgPool1d(3)"), []),
        ("modules-in-plain-container", AVERAGES.replace("LAYER", "nn.Linear(3, 3)"), ["error"]),
        ("eval-mode-missing", TOGETHER.replace("NETS", "(body, head)"), []),
        ("eval-mode-missing", TOGETHER.replace("NETS", "(head,)"), ["warning"]),
        ("module-train-overridden", OVERRIDDEN, ["hint"]),
        ("module-train-overridden", OVERRIDDEN + "gan.eval()", ["error"]),
        ("module-train-overridden", OVERRIDDEN + "def off(m):\n    m.eval()\n", ["hint"]),
        ("module-train-overridden", OVERRIDDEN + "def off(m):\n    m.eval()\n\noff(gan)\n", ["error"]),
        ("strict-false-unchecked", PREFIXED, ["hint", "hint"]),
        ("layer-created-in-forward", LOSS.replace("LAYER", "nn.NLLLoss2d(self.weight)"), []),
        ("layer-created-in-forward", LOSS.replace("LAYER", "nn.Bilinear(2, 2, 2)"), ["error"]),
        (
            "train-loader-not-shuffled",
            SIAMESE.replace("pairs = iter(train_loader)", "x = next(iter(train_loader))"),
            [],
        ),
        ("retain-graph-habit", JACOBIAN, []),
        ("same-tensor-appended", ENTRIES.replace("FIRST", "found[i] = 2 * parts[i]"), []),
        ("same-tensor-appended", ENTRIES.replace("FIRST", "pass"), ["error"]),
        ("train-mode-not-restored", JUDGE.replace("FIRST", "self.judge.eval()"), []),
        ("train-mode-not-restored", JUDGE.replace("FIRST", "pass"), ["warning"]),
        (
            "metric-arguments-swapped",
            SCORES.replace("SECOND", "precision_recall_fscore_support(labels, attempt_labels)"),
            [],
        ),
        ("metric-arguments-swapped", SCORES.replace("SECOND", "pass"), ["warning"]),
        ("image-not-converted-to-rgb", OPENED.replace("PATH", "path='a.png'"), ["hint"]),
        ("image-not-converted-to-rgb", OPENED.replace("PATH", "path"), ["hint"]),
        ("one-hot-without-num-classes", WIDTH.replace("NAME", "smooth"), ["hint"]),
        ("one-hot-without-num-classes", WIDTH.replace("NAME", "soft_loss"), ["warning"]),
        ("view-as-transpose", UNFOLDED.replace("FIRST", "1, t"), []),
        ("view-as-transpose", UNFOLDED.replace("FIRST", "t, a"), ["warning"]),
        ("discarded-move", "import torch\ntorch.zeros(1).cuda()\n", []),
        (
            "module-train-overridden",
            OVERRIDDEN.replace("for x in loader:\n            self.step(x)", "pass") + "gan.eval()",
            [],
        ),
        ("version-compared-as-string", "import torch\nold = torch.__version__.split('.') < ['1', '0']\n", ["hint"]),
        ("version-compared-as-string", "import torch\nold = torch.__version__[:3] < '2.2'\n", ["warning"]),
        (
            "save-whole-module",
            SAVED.replace("torch.save", "model.load_state_dict(torch.load('a.pt'))\ntorch.save"),
            ["hint"],
        ),
        ("nll-on-probabilities", HEADED.replace("HEAD", "nn.Sequential(*layers)"), []),
        ("nll-on-probabilities", HEADED.replace("HEAD", "nn.Linear(1280, 9)"), ["error"]),
        ("eval-mode-missing", REFRESHED.replace("AGAIN", "model.train()"), []),
        ("eval-mode-missing", REFRESHED.replace("AGAIN", "print('trained')"), ["warning"]),
        ("view-as-transpose", LAST_STATES.replace("JOIN", "view(-1, self.hidden * 2)"), ["warning"]),
        ("view-as-transpose", LAST_STATES.replace("JOIN", "transpose(0, 1).reshape(-1, self.hidden * 2)"), []),
        ("strict-false-unchecked", WHOLE.replace("KEPT", '{"net": net.state_dict(), "epoch": 3}'), ["warning"]),
        ("strict-false-unchecked", WHOLE.replace("KEPT", "net.state_dict()"), ["hint"]),
        ("language-model-sees-the-answer", TRANSLATES.replace(", MASK", ""), ["error"]),
        ("language-model-sees-the-answer", TRANSLATES.replace("MASK", "mask"), []),
        ("saved-state-not-loaded", RESUMED.replace("LEAVE", "print('loaded')"), ["warning"]),
        ("saved-state-not-loaded", RESUMED.replace("LEAVE", "return optimizer"), []),
        ("missing-zero-grad", ADVERSARIES.replace("BEFORE", "pass").replace("AFTER", "opt_j.zero_grad()"), ["error"]),
        ("missing-zero-grad", ADVERSARIES.replace("BEFORE", "opt_j.zero_grad()").replace("AFTER", "pass"), []),
        ("missing-zero-grad", ADVERSARIES.replace("BEFORE", "judge.zero_grad()").replace("AFTER", "pass"), []),
        ("single-logit-softmax", POOLED.replace("NAME", "attention"), []),
        ("single-logit-softmax", POOLED.replace("NAME", "head"), ["error"]),
        ("state-dict-alias", KEPT.replace("USE", "return self.best"), []),
        ("state-dict-alias", KEPT.replace("USE", "self.model.load_state_dict(state)"), ["warning"]),
        ("modules-in-plain-container", BORROWED, []),
        ("modules-in-plain-container", BY_HAND.replace("CALL", "self.hold(net.parameters())"), []),
        ("modules-in-plain-container", BY_HAND.replace("CALL", "net.cuda()"), ["error"]),
        ("kl-div-on-probabilities", SMOOTHED.replace("FILL", "wanted.fill_(0.1)"), []),
        ("kl-div-on-probabilities", SMOOTHED.replace("FILL", "pass"), ["error"]),
        ("kl-div-mean", DIVERGENCE.replace("FACTOR", " * b.shape[1]"), []),
        ("kl-div-mean", DIVERGENCE.replace("FACTOR", ""), ["warning"]),
        ("module-in-no-optimizer", HALF.replace("FREEZE", "self.body.requires_grad_(False)"), []),
        ("module-in-no-optimizer", HALF.replace("FREEZE", "pass"), ["error"]),
        ("bootstrap-target-attached", TAUGHT.replace("CONTEXT", "torch.no_grad()"), []),
        ("bootstrap-target-attached", TAUGHT.replace("CONTEXT", "torch.enable_grad()"), ["warning"]),
        ("state-dict-alias", BRANCHES.replace("AFTER", "return model"), []),
        ("state-dict-alias", BRANCHES.replace("AFTER", "model.load_state_dict(state)"), ["warning", "warning"]),
        ("eval-mode-missing", NAMED.replace("SWITCH", "model.eval()"), []),
        ("eval-mode-missing", NAMED.replace("SWITCH", "pass"), ["warning"]),
        ("loss-overwritten-in-loop", SUMMED, []),
        ("eval-mode-missing", DETECTOR.replace("CALL", "images, targets"), []),
        ("eval-mode-missing", DETECTOR.replace("CALL", "images"), ["warning"]),
        ("train-loader-not-shuffled", ORDERED.replace("LOSS", "cross_entropy(net(x), y)"), ["warning"]),
        ("train-loader-not-shuffled", ORDERED.replace("LOSS", "mse_loss(net(x), x)"), ["hint"]),
        ("strict-false-unchecked", WRAPPED.replace("NAME", "net"), ["warning"]),
        ("strict-false-unchecked", WRAPPED.replace("NAME", "wide"), ["hint"]),
        ("module-train-overridden", OVERRIDDEN.replace("self.step(x)", "self.part.eval()"), ["hint"]),
        ("eval-mode-missing", DRAWN.replace("NAME", "draw_pictures"), []),
        ("eval-mode-missing", DRAWN.replace("NAME", "test_pictures"), ["warning"]),
        ("log-of-softmax", LOGARITHM.replace("NAME", "entropy").replace("SCORES", "logits"), ["warning"]),
        ("log-of-softmax", LESSON_OF_LOGS.replace("    BACK", "    loss.backward()"), ["hint"]),
        ("log-of-softmax", LESSON_OF_LOGS.replace("    BACK", "    pass\n\nlogs.sum().backward()"), ["warning"]),
        ("log-of-softmax", LOGARITHM.replace("NAME", "beam_search").replace("SCORES", "logits"), ["hint"]),
        ("log-of-softmax", LOGARITHM.replace("NAME", "swav").replace("SCORES", "logits / temperature"), ["hint"]),
        ("same-tensor-appended", QUEUED.replace("IMPORT", "import torch.multiprocessing as mp"), ["hint"]),
        ("same-tensor-appended", QUEUED.replace("IMPORT", "import queue"), ["error"]),
        ("eval-mode-missing", CHOSEN.replace("OTHER", "InstanceNorm2d"), []),
        ("eval-mode-missing", CHOSEN.replace("OTHER", "SyncBatchNorm"), ["warning"]),
        ("capture-not-opened", FILM.replace("LENGTH", "count"), ["warning"]),
        ("capture-not-opened", FILM.replace("LENGTH", "wanted"), ["hint"]),
        ("variable-volatile", OLD, ["warning", "hint"]),
        ("retain-graph-habit", ADAPTED.replace("METHOD", "adapt"), []),
        ("retain-graph-habit", ADAPTED.replace("METHOD", "take"), ["warning"]),
        ("drop-last-in-evaluation", SHAPED.replace("SHAPE", "batch_size, -1"), ["hint"]),
        ("drop-last-in-evaluation", SHAPED.replace("SHAPE", "len(x), -1"), ["warning"]),
        ("scaler-fitted-on-test-data", TOY.replace("READ", "np.loadtxt(path)"), ["warning"]),
        ("scaler-fitted-on-test-data", TOY.replace("READ", "np.random.rand(9, 1)"), ["hint"]),
        ("softmax-without-dim", SUMMED_PAIRS.replace("CALL", "bmm"), ["warning"]),
        ("softmax-without-dim", SUMMED_PAIRS.replace("CALL", "mm"), ["hint"]),
        ("strict-false-unchecked", BRANCHED.replace("WHY", "the table is new, and missing in old files"), ["hint"] * 2),
        ("strict-false-unchecked", BRANCHED.replace("WHY", "a file"), ["warning"] * 2),
        ("initialiser-reaches-nothing", FORGOTTEN.replace("LINE", "# self.init_weights()"), []),
        ("initialiser-reaches-nothing", FORGOTTEN.replace("LINE", "# done"), ["warning"]),
        ("train-loader-not-shuffled", ORDERED.replace("LOSS", "cross_entropy(net(x), y)") + PRIVATE, []),
        ("modules-in-plain-container", CLIENTS, []),
        ("accumulate-loss-with-graph", WINDOW, []),
        ("bootstrap-target-attached", TWOFOLD, []),
        ("view-as-transpose", BOTH_WAYS, []),
        ("parameter-never-initialised", FILLED.replace("FILL", "self.reset_parameters()"), []),
        ("parameter-never-initialised", FILLED.partition("class Whole")[0], ["error"]),
        ("accumulate-loss-with-graph", OUTPUTS.replace("LINE", 'out["loss"] = out["loss"].detach()'), []),
        ("accumulate-loss-with-graph", OUTPUTS.replace("LINE", 'out.pop("loss")'), []),
        ("accumulate-loss-with-graph", OUTPUTS.replace("LINE", "print(len(x))"), ["warning"]),
        ("accuracy-over-batches", COUNTED, []),
        ("discarded-move", BIAS.replace("KIND", "query.dtype"), []),
        ("discarded-move", BIAS.replace("KIND", "torch.float32"), ["error"]),
        ("missing-zero-grad", SOLVER.replace("HELPER", "reset_grad"), []),
        ("missing-zero-grad", SOLVER.replace("HELPER", "print"), ["error"]),
        ("log-of-softmax", COSINES.replace("CALL", "self.near(a, b)"), ["hint"]),
        ("log-of-softmax", COSINES.replace("CALL", "self.far(a, b)"), ["warning"]),
        ("nll-on-probabilities", PICKED.replace("HOW", "none"), ["warning"]),
        ("nll-on-probabilities", PICKED.replace("HOW", "mean"), ["error"]),
        ("torch-seed-alone", PORT.replace("NAME", "port"), []),
        ("torch-seed-alone", PORT.replace("NAME", "first"), ["warning"]),
        ("accumulate-loss-with-graph", METER, []),
        ("accumulate-loss-with-graph", METER.replace("Mean()", "[]"), ["error"]),
    ],
)
def test_it_depends_on_the_rest_of_the_file(rules, slug, text, expected):
    assert said(rules, slug, text) == expected


@pytest.mark.parametrize(("line", "status"), [("np.random.seed(seed)", 0), ("print(seed)", 1)])
def test_a_function_of_another_file_may_seed_numpy(tmp_path, capsys, line, status):
    (tmp_path / "rows.py").write_text(f"import numpy as np\n\ndef split(n, seed):\n    {line}\n    return n\n")
    draw = "import numpy as np\nimport torch\nfrom rows import split\n\ntorch.manual_seed(0)\nsplit(3, 0)\n"
    (tmp_path / "train.py").write_text(draw + "np.random.choice(3, 2)\n")
    assert main(["check", "--no-cache", "--select", "torch-seed-alone", str(tmp_path)]) == status
    assert ("np.random.seed" in capsys.readouterr().out) is bool(status)


@pytest.mark.parametrize(("workers", "status"), [("0", 0), ("4", 1)])
def test_who_imports_the_dataset_says_whether_there_are_workers(tmp_path, workers, status):
    (tmp_path / "rows.py").write_text(HDF5.partition("loader =")[0])
    script = (
        f"from torch.utils.data import DataLoader\nfrom rows import Rows\n\nparams = {{'num_workers': {workers}}}\n"
    )
    (tmp_path / "train.py").write_text(script + "loader = DataLoader(Rows('a.h5'), 8, **params)\n")
    assert main(["check", "--no-cache", "--select", "handle-opened-before-fork", str(tmp_path)]) == status


@pytest.mark.parametrize(("name", "status"), [("test_loss.py", 0), ("train.py", 1)])
def test_what_a_test_gives_says_nothing_of_how_the_code_is_used(tmp_path, name, status):
    given = (
        "import torch.nn.functional as F\n\ndef loss_of(scores, labels):\n    return F.cross_entropy(scores, labels)\n"
    )
    (tmp_path / "loss.py").write_text(given)
    use = "import torch\nfrom loss import loss_of\n\nloss_of(torch.softmax(torch.randn(4, 3), 1), torch.tensor([0, 1, 2, 0]))\n"
    (tmp_path / name).write_text(use)
    command = ["check", "--no-cache", "--select", "softmax-before-cross-entropy", str(tmp_path)]
    assert main(command) == status


@pytest.mark.parametrize(
    ("path", "first", "severity"),
    [
        ("tests/test_net.py", "import pytest", "hint"),
        ("test_net.py", "import unittest", "hint"),
        ("test_net.py", "import json", "error"),  # a script that tests a net
        ("test_net.py", "# not run by pytest", "error"),
        ("net.py", "import pytest", "error"),
    ],
)
def test_what_a_unit_test_does_is_told_as_a_hint(rules, path, first, severity):
    program = f"{first}\nimport torch\nx = torch.ones(3)\nx.detach()\nprint(x)\n"
    found = engine.check_text(program, rules, path)
    assert [(one.slug, one.severity) for one in found] == [("discarded-tensor-op", severity)]


_MADE = "import torch\ndef made():\n    x = torch.ones(3)\n    x.detach()\n    return x\n"


@pytest.mark.parametrize(
    ("path", "program", "severity"),
    [
        ("tests/test_net.py", "def test_it():\n    assert made().sum()\n", "hint"),
        (
            "test/test_net.py",
            "class Net(OurTestCase):\n    def test_it(self):\n        self.assertTrue(made())\n",
            "hint",
        ),
        ("test_net.py", "def test_it():\n    assert made().sum()\n", "error"),  # a script
        ("tests/test_net.py", "def main():\n    assert made().sum()\n", "error"),
    ],
)
def test_a_unit_test_needs_no_import(rules, path, program, severity):
    found = engine.check_text(_MADE + program, rules, path)
    assert [(one.slug, one.severity) for one in found] == [("discarded-tensor-op", severity)]


def test_a_word_that_python_took_is_named(rules):
    (found,) = engine.check_text("import torch\nx = torch.ones(3).cuda(async=True)\n", rules)
    assert (found.slug, found.line) == ("syntax-error", 2)
    assert "`non_blocking`" in found.message
