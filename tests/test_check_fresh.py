"""What look 28 found wrong in fresh repositories, written anew: which word decides, and how sure the finding then is."""

import pytest

from torchlore.check import engine
from torchlore.cli import main


def said(rules, slug, text):
    """The severities of what one rule says."""
    return [found.severity.value for found in engine.check_text(text, {slug: rules[slug]})]


ACCUMULATED = """
import torch

def train(net, loader, criterion, every):
    optimizer = torch.optim.OPTIMIZER(net.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader):
        loss = criterion(net(x), y)
        loss.backward()
        if (i + 1) % every == 0:
            LINE
            optimizer.step()
            optimizer.zero_grad()
"""
POLICY = """
import torch

def objective(actor, x, NAME, before):
    logp = torch.log(torch.softmax(actor(x), dim=1).gather(1, NAME))
    return torch.exp(logp - before).mean()
"""
BEAMS = """
import torch
from torch.nn import functional as F

def run(net, x, scores):
    p = F.softmax(net(x), dim=1)
    logp = torch.log(p) + scores
    LINE
    return best
"""
NARROWED = """
import torch
from torch import nn

class Focal(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.alpha = torch.ones(classes)

    def forward(self, logits, labels):
        self.alpha = self.alpha.gather(0, labels.view(-1))
        return (self.alpha * nn.functional.cross_entropy(logits, labels, reduction="none")).mean()

USE
"""
ANEW = "def loss_of(logits, labels):\n    focal = Focal(3)\n    return focal(logits, labels)\n"
KEPT = "focal = Focal(3)\nfor x, y in loader:\n    focal(net(x), y).backward()\n"
DEEP = """
import torch

def activations(net, loader):
    net.eval()
    found = []
    for x in loader:
        found.append(net(x).cpu().data.numpy())
    return found

def statistics(net, loader):
    return sum(activations(net, loader))

def distance(net, loader):
    WITH:
        return statistics(net, loader)
"""
HANDED = """
from functools import partial

def generator_loss(G, x, scale=1.0):
    FIRST
    return scale * G(x).mean()

class Trainer:
    def __init__(self, G, loss, optimizer):
        self.G, self.loss, self.optimizer = G, loss, optimizer

    def train(self, loader):
        for x in loader:
            loss = self.loss(self.G, x)
            loss.backward()
            self.optimizer.step()

Trainer(net, partial(generator_loss, scale=0.5), torch.optim.SGD(net.parameters(), 0.1)).train(loader)
"""
GATHERED = """
import torch

def update(policy, x, NAME, gain):
    p = torch.softmax(policy(x), dim=1)
    p = torch.gather(p, dim=1, index=NAME)
    return -(torch.log(p) * gain).sum()
"""
MATRIX = """
from sklearn.metrics import confusion_matrix

def score(net, loader, total):
    for x, label in loader:
        pred = net(x).argmax(1)
        total = total + confusion_matrix(pred.numpy(), label.numpy())
    LINE
    return total
"""
KEEPS = """
import torch

def run(net, loader):
    BEST = 0
    for epoch in range(9):
        running_loss = 0
        for x, y in loader:
            running_loss += score(net(x), y).item()
        if BEST < running_loss:
            BEST = running_loss
            torch.save(net.state_dict(), "a.pt")
"""
OFF = """
import torch

def train(net, loader):
    for x in loader:
        net(x).mean().backward()

def evaluate(net, loader):
    torch.set_grad_enabled(False)
    return [net(x) for x in loader]

if learning:
    train(net, loader)
else:
    evaluate(net, loader)
LINE
"""
SIZED = """
import torch
from torch import nn
from torch.utils.data import DataLoader

class Net(nn.Module):
    def __init__(self, batch_size, width):
        super().__init__()
        self.batch_size = batch_size
        self.head = nn.Linear(width, 2)

    def forward(self, x):
        return self.head(x.reshape(SIZE, -1))

test_loader = DataLoader(rows, batch_size=batch_size, drop_last=True)
net = Net(batch_size, 8)
accuracy = measure(net, test_loader)
"""
FLOATS = """
import numpy as np
from torchvision import transforms

def load(picture):
    x = np.asarray(picture, dtype="KIND")
    x = transforms.ToTensor()(x)
    return x / 255.0
"""
CLOCK = """
import time
import torch
from torch import nn

def measure(device):
    net = nn.Linear(8, 8).to("cuda")
    x = torch.randn(4, 8, device="cuda")
    if WHERE:
        return 0
    else:
        start = time.perf_counter()
        y = net(x)
        return time.perf_counter() - start
"""
POSITIONS = """
import torch
from torch import nn

class Positions(nn.Module):
    def __init__(self, length, width):
        super().__init__()
        table = torch.randn(length, width)
        table = table.unsqueeze(AXIS)
        self.register_buffer("table", table)

    def forward(self, x):
        return x + self.table[: x.size(0)]

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.places = Positions(9, 16)
        self.layer = nn.TransformerEncoderLayer(16, 2, batch_first=True)

    def forward(self, x):
        return self.layer(self.places(x))
"""
WORKERS = """
import torch
from torch import multiprocessing as mp

class Learner:
    def __init__(self, net, optimizer):
        self.net, self.optimizer = net, optimizer
        self.states = BOX

    def learn(self, loader):
        for epoch in range(9):
            for x in loader:
                self.optimizer.zero_grad()
                self.net(x).mean().backward()
                self.optimizer.step()
            self.states[0] = self.net.state_dict()

    def restore(self):
        self.net.load_state_dict(self.states[0])
"""
NEIGHBOURS = """
import torch.nn.functional as F

def loss_of(net, x, bank, weight):
    p = F.softmax(net(x), dim=1)
    return CALL
"""
PLANE = """
from sklearn.decomposition import PCA

pca = PCA(n_components=SIZE)
points = pca.fit_transform(test_embeddings)
"""
INFERENCE = """
import torch
from torch import nn

def encoder_inference(encoder, x):
    return encoder(x.float())

def train(encoder, head, loader, optimizer):
    for epoch in range(9):
        encoder.train()
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(head(encoder(x)), y)
            loss.backward()
            optimizer.step()
        for x, y in loader:
            out = head(encoder_inference(encoder, x))
            LINE

encoder, head = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)), nn.Linear(4, 2)
optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], 0.1)
train(encoder, head, loader, optimizer)
"""
KEY = """
import torch
from torch import nn

class Twin(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
        self.key = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))

    def move(self):
        for a, b in zip(self.net.parameters(), self.key.parameters()):
            b.data = b.data * 0.99 + a.data * 0.01

twin = Twin()
for x in loader:
    LINE
    twin.net(x).mean().backward()
    optimizer.step()
    twin.move()
twin.eval()
"""
FILTERS = """
import torch
from torch import nn

class Edges(nn.Module):
    def __init__(self, tables):
        super().__init__()
        self.filters = []
        for table in tables:
            layer = nn.Conv2d(1, 1, 3, bias=False)
            LINE
            self.filters.append(layer)

    def forward(self, x):
        return [one(x) for one in self.filters]
"""
ACTS = """
from torch import nn

class Policy(nn.Module):
    def actforward(self, x):
        return x

    def act(self, x):
        return LINE
"""
BROUGHT = """
import torch
from torch.nn import functional as F

def loss_of(x):
    x = F.normalize(x, dim=1)WHERE
    near = torch.mm(x, x.t())
    near.to("cpu")
    return near.sum()
"""
NUMBERED = """
from torch import nn

class Pose(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = {}
        self.convs[0] = nn.Conv2d(3, 8, 3)
        self.convs[1] = nn.Conv2d(8, 8, 3)
        LINE

    def forward(self, x):
        return self.convs[1](self.convs[0](x))
"""
FEW = """
import torch

def show(net: torch.nn.Module, path):
    net.eval()
    texts = LIST
    for text in texts:
        print(net(encode(text)).argmax().item())
"""
WRAPPED = """
import torch
from torch import nn

def fit(loader, parts):
    held = nn.ModuleList(parts)
    optimizer = torch.optim.Adam(held.parameters(), lr=0.1)
    net = WHAT
    for x in loader:
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
"""
BEST = """
import copy
import torch

def run(model, loader, path):
    ema = copy.deepcopy(model)
    LOOP
    model.load_state_dict(torch.load(path))
    return ema
"""
LOGGED = """
class Trainer:
    def fit(self, loader):
        for x in loader:
            loss = self.net(x).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.log["loss"] += loss
            LINE

    def report(self):
        print(self.log["loss"])
        self.log["loss"] = 0
"""
OWN = """
import torch

NAME = WHAT
NAME.load_state_dict(NAME.state_dict())
"""
GATE = """
import torch

def attend(q, k, v, mask):
    scores = (q @ k.transpose(-2, -1)) * 0.1
    scores = scores * MASK
    return scores.softmax(dim=-1) @ v
"""
BODY = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, body, path):
        super().__init__()
        self.body = body
        self.body.load_state_dict(torch.load(path))
        self.norm = nn.LayerNorm(8)
        self.apply(self._init)

    def _init(self, m):
        if isinstance(m, nn.LAYER):
            nn.init.constant_(m.bias, 0)
            nn.init.constant_(m.weight, 1.0)
"""
DRAWN = """
import torch

def noise(std, generator):
    torch.normal(mean=0, std=std, size=(1, 1)MORE)
    return torch.normal(mean=0, std=std, size=(1, 1)MORE)
"""
CAST = """
import torch
from torch import nn

net = nn.Linear(2, 2)
for x, y in loader:
    out = net(x)
    out.to(torch.KIND)
    nn.functional.cross_entropy(out, y).backward()
"""
WANTED = """
import torch

def predict(net: torch.nn.Module, loader, TEST):
    net.eval()
    if quiet:
        with torch.no_grad():
            for x in loader:
                print(net(x).sum())
    SECOND:
        a = 1
        b = 2
        c = 3
        d = 4
        e = 5
        for x in loader:
            print(net(x).sum())
"""
PROBED = """
import torch

def probe(NETS, x, loader):
    for net, device in zip(nets, loader):
        net.eval()
        print(WHICH(x).shape)
"""
LMDB = """
import lmdb
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, root):
        self.root = root
        self.env = self._open()

    def _open(self):
        return lmdb.open(self.root, readonly=ONLY, lock=False)

    def __len__(self):
        return 9

    def __getitem__(self, i):
        return self.env.begin().get(str(i).encode())

loader = DataLoader(Rows("a"), num_workers=4)
"""
SOFT = """
from torch import nn
from torch.nn import functional as F

class Distil(nn.Module):
    def __init__(self, T, alpha):
        super().__init__()
        self.temperature, self.beta = T, 1 - alpha
        self.gamma = GAMMA

    def forward(self, out, y, teacher):
        soft = F.kl_div(F.log_softmax(out / self.temperature, dim=1), F.softmax(teacher / self.temperature, dim=1), reduction=self.how) * self.gamma
        return soft + F.cross_entropy(out, y) * self.beta
"""
NAMED = """
from torch import nn

criterion = nn.CrossEntropyLoss()

def step(student: nn.Module, teacher: nn.Module, x):
    soft_labels = WHAT
    wanted = nn.functional.softmax(teacher(x), dim=1)
    return criterion(soft_labels, wanted)
"""
INNER = """
import higher
import torch

def train(net, tasks, meta):
    for epoch in range(9):
        fast = torch.optim.Adam(net.parameters(), lr=0.1)
        for x in tasks:
            with higher.innerloop_ctx(net, fast) as (copy, steps):
                copy(x).mean().backward()
                meta.step()
                LINE
"""
ADDRESSED = """
import torch
from torch import nn
from torch.nn import functional as F

class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.key, self.strength = nn.Linear(8, 4), nn.Linear(8, 1)

    def forward(self, x, memory):
        k = self.key(x)
        beta = F.softplus(self.strength(x))
        return beta * F.cosine_similarity(memory, WHAT)
"""
PRIOR = """
import torch

def term(w, mu, log_var):
    NAME = torch.exp(log_var)
    return ((w - mu) ** 2 / NAME).sum()
"""
STATES = """
import torch

class Trainer:
    def train(self, loader):
        FIRST
        for epoch in range(9):
            for x in loader:
                self.opt.zero_grad()
                self.net(x).mean().backward()
                self.opt.step()
            if self.better():
                SECOND
                if self.more:
                    states["net"] = self.net.state_dict()
                self.keep(epoch, states)
"""
HISTORY = """
import torch
from torch.nn import functional as F

class Net(torch.nn.Module):
    def dist(self, x):
        p = F.softmax(x, dim=-1)
        out = WHAT
        return out

def loss_of(x, wanted):
    net = Net()
    logp = torch.log(net.dist(x))
    return -(wanted * logp).sum(1)
"""
TAUGHT = """
import torch

def train(net, NAME, optimizer, loader):
    net.train()
    for x in loader:
        optimizer.zero_grad()
        (net(x) - NAME(x)).mean().backward()
        optimizer.step()

def validate(net, NAME, loader):
    net.eval()
    NAME.eval()
    with torch.no_grad():
        return [net(x) - NAME(x) for x in loader]
"""
TASKS = """
import copy
import torch
from torch import nn

def run(loader):
    net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for task in range(3):
        if task > 0:
            NAME = copy.deepcopy(net)
            NAME.eval()
            for epoch in range(9):
                train(net, NAME, optimizer, loader)
                validate(net, NAME, loader)
"""
LAYERS = """
import torch

torch.set_grad_enabled(False)

class Linear:
    def METHOD(self, g):
        return g @ self.w

Linear().backward(torch.ones(2))
"""
SALIENCY = """
import torch

def saliency(net, optimizer, loader, x):
    scores = net(x)
    for i in range(9):
        LINE
        total = torch.sum(part)
        total.backward(retain_graph=True)
        optimizer.step()
        optimizer.zero_grad()
"""
SAMPLED = """
import torch

def sample(model: torch.nn.Module, x, n):
    model.eval()
    for _ in range(n):
        p = model(x).softmax(-1)
        x = torch.cat([x[1:], WHAT])
    return x
"""
CHOSEN = """
import torch

def sample_action(net, x):
    p = torch.softmax(net(x), dim=0)
    a = p.multinomial(1)
    return a, p[a]

def predict(net, x):
    p = torch.softmax(net(x), dim=0)
    return p, p[0]

def roll(net, x, got):
    a, p = CALL(net, x)
    return -(p.log() * got).sum()
"""
TWIN = """
from torch.utils.data import DataLoader

train_dataset, test_dataset = Rows("train"), Rows("test")
train_loader = DataLoader(train_dataset, 8, shuffle=True)
# test_loader = DataLoader(WHICH, 8)
test_loader = DataLoader(train_dataset, 8)
accuracy = measure(net, test_loader)
"""
MODES = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(2, 2)

    def forward(self, x, mode):
        if mode == "eval":
            FIRST:
                return self.head(x).sum()
        return self.head(x).mean()

def test(loader):
    net = Net()
    net.eval()
    for x in loader:
        print(net(x, "eval").item())
"""
WORDS = """
from torch import nn
from torch.nn import functional as F

PAD = 0

def loss_of(out, labels, size):
    wanted = MADE
    return F.cross_entropy(out.view(-1, size), wanted.view(-1REST))
"""
PLACED = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.w = nn.Parameter(torch.empty(2, 2WHERE)).to(device)
        nn.init.ones_(self.w)
"""
FROZEN = """
from torchvision import models

net = models.alexnet(weights="DEFAULT")
net.PART.requires_grad = False
"""


@pytest.mark.parametrize(
    ("slug", "text", "expected"),
    [
        ("loss-not-divided-by-accum", ACCUMULATED.replace("OPTIMIZER", "SGD").replace("LINE", "pass"), ["warning"]),
        ("loss-not-divided-by-accum", ACCUMULATED.replace("OPTIMIZER", "AdamW").replace("LINE", "pass"), ["hint"]),
        ("loss-not-divided-by-accum", ACCUMULATED.replace("OPTIMIZER", "AdamW").replace(
            "LINE", "torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)"), ["warning"]),
        ("log-of-softmax", POLICY.replace("NAME", "labels"), ["warning"]),
        ("log-of-softmax", POLICY.replace("NAME", "actions"), ["hint"]),
        ("log-of-softmax", BEAMS.replace("LINE", "best = logp.mean()"), ["warning"]),
        ("log-of-softmax", BEAMS.replace("LINE", "beam_scores, best = logp.view(-1).topk(4)"), ["hint"]),
        ("attribute-narrowed-in-forward", NARROWED.replace("USE", KEPT), ["error"]),
        ("attribute-narrowed-in-forward", NARROWED.replace("USE", ANEW), []),
        ("eval-without-no-grad", DEEP.replace("WITH", "with torch.no_grad()"), []),
        ("eval-without-no-grad", DEEP.replace("WITH", "if loader"), ["warning"]),
        ("missing-zero-grad", "import torch\n" + HANDED.replace("FIRST", "G.zero_grad()"), []),
        ("missing-zero-grad", "import torch\n" + HANDED.replace("FIRST", "print(x)"), ["error"]),
        ("log-of-softmax", GATHERED.replace("NAME", "labels"), ["warning"]),
        ("log-of-softmax", GATHERED.replace("NAME", "actions"), ["hint"]),
        ("metric-arguments-swapped", MATRIX.replace("LINE", "print(total)"), ["hint"]),
        ("metric-arguments-swapped", MATRIX.replace("LINE", "sns.heatmap(total)"), ["warning"]),
        ("best-compared-the-wrong-way", KEEPS.replace("BEST", "best_dice"), []),
        ("best-compared-the-wrong-way", KEEPS.replace("BEST", "best_one"), ["warning"]),
        ("set-grad-enabled-left-off", OFF.replace("LINE", "print(1)"), ["hint"]),
        ("set-grad-enabled-left-off", OFF.replace("LINE", "train(net, loader)"), ["warning"]),
        ("drop-last-in-evaluation", SIZED.replace("SIZE", "self.batch_size"), ["hint"]),
        ("drop-last-in-evaluation", SIZED.replace("SIZE", "len(x)"), ["warning"]),
        ("pixels-scaled-twice", FLOATS.replace("KIND", "float32"), []),
        ("pixels-scaled-twice", FLOATS.replace("KIND", "uint8"), ["warning"]),
        ("timing-without-sync", CLOCK.replace("WHERE", 'device.type == "cuda"'), []),
        ("timing-without-sync", CLOCK.replace("WHERE", "device is None"), ["warning"]),
        ("positions-along-the-batch", POSITIONS.replace("AXIS", "0"), []),
        ("positions-along-the-batch", POSITIONS.replace("AXIS", "1"), ["warning"]),
        ("state-dict-alias", WORKERS.replace("BOX", "mp.Manager().dict()"), []),
        ("state-dict-alias", WORKERS.replace("BOX", "{}"), ["warning"]),
        ("kl-div-on-probabilities", NEIGHBOURS.replace("CALL", 'F.kl_div(p, bank, reduction="batchmean")'), ["error"]),
        ("kl-div-on-probabilities", NEIGHBOURS.replace("CALL", 'F.kl_div(p, bank, reduction="none").mean()'), ["warning"]),
        ("kl-div-on-probabilities", NEIGHBOURS.replace(
            "CALL", '(F.kl_div(p, bank, reduction="none").sum(-1) * weight).sum()'), ["hint"]),
        ("scaler-fitted-on-test-data", PLANE.replace("SIZE", "3"), []),
        ("scaler-fitted-on-test-data", PLANE.replace("SIZE", "64"), ["error"]),
        ("eval-mode-missing", INFERENCE.replace("LINE", "out.mean().backward()"), []),
        ("eval-mode-missing", INFERENCE.replace("LINE", "print(out.argmax(1))"), ["warning"]),
        ("ema-without-buffers", KEY.replace("LINE", "twin.train()"), []),
        ("ema-without-buffers", KEY.replace("LINE", "twin.zero_grad()"), ["warning"]),
        ("modules-in-plain-container", FILTERS.replace(
            "LINE", "layer.weight = nn.Parameter(table, requires_grad=False)"), ["warning"]),
        ("modules-in-plain-container", FILTERS.replace("LINE", "print(table)"), ["error"]),
        ("misspelt-method", ACTS.replace("LINE", "self.actforward(x)"), []),
        ("misspelt-method", ACTS.replace("LINE", "x"), ["error"]),
        ("discarded-move", BROUGHT.replace("WHERE", '.to("cpu")'), []),
        ("discarded-move", BROUGHT.replace("WHERE", ""), ["warning"]),
        ("modules-in-plain-container", NUMBERED.replace("LINE", "self.net = nn.ModuleList(list(self.convs.values()))"), []),
        ("modules-in-plain-container", NUMBERED.replace("LINE", "self.count = len(list(self.convs.values()))"), ["error"]),
        ("eval-without-no-grad", FEW.replace("LIST", '["a", "b"]'), []),
        ("eval-without-no-grad", FEW.replace("LIST", "open(path).readlines()"), ["warning"]),
        ("optimizer-sees-no-gradient", WRAPPED.replace("WHAT", "nn.Sequential(*parts)"), []),
        ("optimizer-sees-no-gradient", WRAPPED.replace("WHAT", "nn.Linear(2, 2)"), ["warning"]),
        ("average-never-updated", BEST.replace("LOOP", "for x in loader:\n        update(ema, model, x)"), []),
        ("average-never-updated", BEST.replace("LOOP", "print(1)"), ["warning"]),
        ("accumulate-loss-with-graph", LOGGED.replace("LINE", "self.report()"), []),
        ("accumulate-loss-with-graph", LOGGED.replace("LINE", "print(1)"), ["error"]),
        ("state-dict-changed-in-vain", OWN.replace("NAME", "optimizer").replace("WHAT", "torch.optim.SGD(p, 0.1)"), []),
        ("state-dict-changed-in-vain", OWN.replace("NAME", "target").replace("WHAT", "torch.nn.Linear(2, 2)"), ["error"]),
        ("masked-score-keeps-weight", GATE.replace("MASK", "torch.sigmoid(mask)"), []),
        ("masked-score-keeps-weight", GATE.replace("MASK", "mask"), ["error"]),
        ("initialised-after-loading", BODY.replace("LAYER", "LayerNorm"), []),
        ("initialised-after-loading", BODY.replace("LAYER", "Linear"), ["error"]),
        ("discarded-tensor-op", DRAWN.replace("MORE", ", generator=generator"), []),
        ("discarded-tensor-op", DRAWN.replace("MORE", ""), ["error"]),
        ("discarded-move", CAST.replace("KIND", "float32"), []),
        ("discarded-move", CAST.replace("KIND", "float64"), ["error"]),
        ("eval-without-no-grad", WANTED.replace("TEST", "quiet").replace("SECOND", "else"), []),
        ("eval-without-no-grad", WANTED.replace("TEST", "quiet").replace("SECOND", "if loader"), ["warning"]),
        ("eval-without-no-grad", PROBED.replace("NETS", "nets: list[torch.nn.Module]").replace("WHICH", "net"), []),
        ("handle-opened-before-fork", LMDB.replace("ONLY", "True"), ["hint"]),
        ("handle-opened-before-fork", LMDB.replace("ONLY", "False"), ["warning"]),
        ("temperature-the-wrong-way", SOFT.replace("GAMMA", "T * T * alpha"), []),
        ("temperature-the-wrong-way", SOFT.replace("GAMMA", "alpha"), ["warning"]),
        ("loss-args-swapped", NAMED.replace("WHAT", "student(x)"), []),
        ("loss-args-swapped", NAMED.replace("WHAT", "read(x)"), ["warning"]),
        ("optimizer-rebuilt-every-epoch", INNER.replace("LINE", "print(1)"), []),
        ("optimizer-rebuilt-every-epoch", INNER.replace("LINE", "fast.step()"), ["error"]),
        ("loss-broadcasts", ADDRESSED.replace("WHAT", "k.unsqueeze(1)"), []),
        ("loss-broadcasts", ADDRESSED.replace("WHAT", "k"), ["error"]),
        ("deviation-for-variance", PRIOR.replace("NAME", "sigma_sqr_prior"), []),
        ("deviation-for-variance", PRIOR.replace("NAME", "sigma_prior"), ["warning"]),
        ("state-dict-alias", STATES.replace("FIRST", "pass").replace("SECOND", 'states = {"epoch": epoch}'), []),
        ("state-dict-alias", STATES.replace("FIRST", 'states = {"a": 1}').replace("SECOND", "pass"), ["warning"]),
        ("log-of-softmax", HISTORY.replace("WHAT", "p.clamp(min=1e-3)"), []),
        ("log-of-softmax", HISTORY.replace("WHAT", "p"), ["warning"]),
        ("train-mode-not-restored", (TAUGHT + TASKS).replace("NAME", "old_model"), []),
        ("train-mode-not-restored", (TAUGHT + TASKS).replace("NAME", "second"), ["warning"]),
        ("set-grad-enabled-left-off", LAYERS.replace("METHOD", "backward"), ["hint"]),
        ("set-grad-enabled-left-off", LAYERS.replace("METHOD", "pull"), ["warning"]),
        ("retain-graph-habit", SALIENCY.replace("LINE", "part = scores[i]"), []),
        ("retain-graph-habit", SALIENCY.replace("LINE", "part = net(x)"), ["warning"]),
        ("log-of-softmax", CHOSEN.replace("CALL", "sample_action"), ["hint"]),
        ("log-of-softmax", CHOSEN.replace("CALL", "predict"), ["warning"]),
        ("training-set-overlaps-validation", TWIN.replace("WHICH", "test_dataset"), ["hint"]),
        ("training-set-overlaps-validation", TWIN.replace("WHICH", "rows"), ["error"]),
        ("eval-without-no-grad", MODES.replace("FIRST", "with torch.no_grad()"), []),
        ("eval-without-no-grad", MODES.replace("FIRST", "if x is not None"), ["warning"]),
        ("padding-in-the-loss", WORDS.replace("MADE", "F.one_hot(labels, size).float()").replace("REST", ", size"), []),
        ("padding-in-the-loss", WORDS.replace("MADE", "labels").replace("REST", ""), ["warning"]),
        ("parameter-moved-on-creation", PLACED.replace("WHERE", ", device = device"), []),
        ("parameter-moved-on-creation", PLACED.replace("WHERE", ""), ["error"]),
        ("requires-grad-on-module", FROZEN.replace("PART", "avgpool"), []),
        ("requires-grad-on-module", FROZEN.replace("PART", "features"), ["error"]),
    ],
)  # fmt: skip
def test_a_word_decides(rules, slug, text, expected):
    assert said(rules, slug, text) == expected


@pytest.mark.parametrize("package", [True, False])
@pytest.mark.parametrize(("line", "status"), [("with torch.no_grad()", 0), ("if loader", 1)])
def test_a_folder_without_init_is_looked_into(tmp_path, package, line, status):
    (tmp_path / "util").mkdir()
    if package:
        (tmp_path / "util" / "__init__.py").write_text("")
    (tmp_path / "util" / "fid.py").write_text(DEEP.partition("def distance")[0])
    script = f"import torch\nfrom util import fid\n\n{line}:\n    fid.statistics(net, loader)\n"
    (tmp_path / "train.py").write_text(script)
    assert main(["check", "--no-cache", "--select", "eval-without-no-grad", str(tmp_path)]) == status


@pytest.mark.parametrize(("name", "status"), [("old_model", 0), ("second", 1)])
def test_the_teacher_may_stay_as_it_is(tmp_path, name, status):
    (tmp_path / "steps.py").write_text(TAUGHT.replace("NAME", name))
    script = "from steps import train, validate\n" + TASKS.replace("NAME", name)
    (tmp_path / "train.py").write_text(script)
    assert main(["check", "--no-cache", "--select", "train-mode-not-restored", str(tmp_path)]) == status


@pytest.mark.parametrize(("piece", "told"), [("p.multinomial(1)", "for every batch"), ("p", "all turns are kept")])
def test_what_is_drawn_carries_no_graph(rules, piece, told):
    found = engine.check_text(SAMPLED.replace("WHAT", piece), {"eval-without-no-grad": rules["eval-without-no-grad"]})
    assert [told in one.message for one in found] == [True]
