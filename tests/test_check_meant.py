"""Code that means what it says, beside the trap it looks like: a word decides. Found in fresh repositories, written anew."""

import pytest

from torchlore.check import engine
from torchlore.cli import main

TWO_STEPS = """
import torch

def train(net, loader, criterion, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 2.0)
        AFTER
"""
COUNTED = """
import torch
from torch.utils.data import DataLoader

def score(net, loader):
    right = 0
    for x, y in loader:
        right += (net(x).argmax(1) == y).sum().item()
    return right / len(loader)

CALL
"""
BRIDGES = """
from torch import nn

class Bridge(nn.Module):
    def __init__(self, a, b, depth, each):
        super().__init__()
        FIRST
        else:
            self.maps = nn.ModuleList([nn.Linear(a, b)] * depth)
"""
AGAIN = """
from torch.utils.data import DataLoader

valid_loader = DataLoader(rows, batch_size=16, drop_last=True)
LINE
accuracy = measure(net, valid_loader)
"""
RATES = """
import torch
from torch.optim.lr_scheduler import CosineAnnealingLR

first = torch.optim.Adam(net.parameters(), lr=1e-3)
second = torch.optim.SGD(net.parameters(), lr=0.1)
slow = CosineAnnealingLR(second, T_max=10)
for x, y in loader:
    first.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    WHICH.step()
"""
SAVED = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(3, 2)

    def forward(self, x):
        return self.out(x)

net = Net()
adam = torch.optim.Adam(net.parameters())
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    adam.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    adam.step()
other = Net()
LINE
print(other(x))
"""
EPOCHS = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, optimizer=None):
        super().__init__()
        self.out = LAYER
        self.extra = something(optimizer)

    def forward(self, x):
        return self.extra(self.out(x))

def measure(net, loader):
    net.eval()
    with torch.no_grad():
        return sum(net(x).sum().item() for x, _ in loader)

def run(loader):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net.train()
    for _ in range(3):
        for x, y in loader:
            optimizer.zero_grad()
            loss = ((net(x) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
        measure(net, loader)
"""
TIMED = """
import time
import torch
from torch import nn
from boxes import pick

net = nn.Linear(3, 3).cuda()
x = torch.rand(2, 3).cuda()
start = time.time()
scores = net(x)
LINE
print(time.time() - start)
"""
SUMMED = """
def train(net, loader, criterion, optimizer, args):
    for i, (x, y) in enumerate(loader):
        loss = criterion(net(x), y)
        loss.backward()
        if (i + 1) % args.EVERY == 0:
            optimizer.step()
            optimizer.zero_grad()
"""
GRAPHS = """
from torch import nn
from torch_geometric.nn import APPNP, SAGEConv

class Net(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.layers = []
        for _ in range(depth):
            self.layers.append(MADE)

    def forward(self, x, edges):
        for layer in self.layers:
            x = layer(x, edges)
        return x
"""
VIEWS = """
import torch

def fold(b, t):
    x = torch.zeros(b * t, 3, 4)
    x.view(b * t, -1)
    NEXT
    return x
"""
PARTS = """
def walk(loader, fine):
    for HEAD in WALKED:
        if fine:
            coarse_tags = fine_tags
        print(words)
"""
UNWRITTEN = """
from torch import nn

class FocalLoss(nn.Module):
    def __init__(self, gamma=2):
        super().__init__()
        self.gamma = gamma

    def forward(self, logits, target):
        BODY
"""
BESIDE = """
import torch
from torch.utils.data import DataLoader, TensorDataset

rows, labels = torch.load("train.pt")
train_loader = DataLoader(TensorDataset(rows), batch_size=1, shuffle=False)
for i, (x,) in enumerate(train_loader):
    loss = torch.nn.functional.cross_entropy(net(x), TARGET)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
MODES = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop, self.out = nn.Dropout(0.5), nn.Linear(3, 2)

    def set_mode(self, mode):
        if mode == "test":
            self.eval()
        else:
            self.train()

    def forward(self, x):
        return self.out(self.drop(x))

net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
    LINE
    with torch.no_grad():
        print(criterion(net(x_test), y_test))
"""
PHASES = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop, self.out = nn.Dropout(0.5), nn.Linear(3, 2)

    def forward(self, x):
        return self.out(self.drop(x))

net, head = Net(), nn.Linear(2, 2)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)

def check(loader):
    head.eval()
    with torch.no_grad():
        return sum(criterion(head(net(x)), y).item() for x, y in loader)

LINE
for epoch in range(3):
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(head(net(x)), y)
        loss.backward()
        optimizer.step()
    check(test_loader)
"""
DRAWN = """
from torch.utils.data import DataLoader

class Trainer:
    def next_batch(self, rows):
        if self.valid_loader is None:
            self.valid_loader = DataLoader(rows, batch_size=16, shuffle=True, drop_last=True)
        if self.walk is None:
            self.walk = iter(self.valid_loader)
        return next(self.walk)

    def accuracy(self, net):
        LINE
"""
SHARES = """
import torch.nn.functional as F
from torch import nn

class Block(nn.Module):
    def __init__(self, width, share=0.0):
        super().__init__()
        self.share, self.out = share, nn.Linear(width, width)
        self.rate = share

    def forward(self, x):
        return F.dropout(self.out(x), p=self.rate)

block = Block(MADE)
"""
BODY = """
import torch
from torch import nn

class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)

    def start(self):
        NAME = torch.load("body.pt")
        self.load_state_dict(NAME, strict=False)

wide = nn.DataParallel(Detector())
"""
PASSED = """
import torch.nn.functional as F

class Wrapper:
    def __init__(self, net):
        self.net = net

    def step(self, x, y):
        LINE
        return F.nll_loss(logits, y)

def loss(logits, y):
    return F.nll_loss(logits, y)
"""
LAYERS = """
import torch
from torch import nn

class Mix(nn.Module):
    def __init__(self, many, few):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(many, few))

    def forward(self, x):
        return x @ self.weight

net = nn.Sequential(Mix(64, 8), Mix(8, 1))
print(net(torch.rand(2, 64)))
LINE
"""
CAPTIONS = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(3, 3)

    def freeze_all(self):
        for p in self.parameters():
            p.requires_grad_(False)

    def forward(self, x):
        return self.out(x)

encoder, decoder = Net(), Net()
LINE
optimizer = torch.optim.Adam(decoder.parameters())
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(decoder(encoder(x)), y)
    loss.backward()
    optimizer.step()
"""
RUNNING = """
total, COUNT = 0.0, 0
for epoch in range(3):
    for x, y in loader:
        total += train_on(x, y)
        COUNT += 1
    print(epoch, total / COUNT)
"""
TIMES = """
import torch

def walk(net, x, stop):
    times = torch.zeros(4)
    while times[0] < stop:
        now = times
        x = x + net(x, now)
        times += 0.1
    LINE
    return x, now
"""
ACTIVE = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers, self.elu = nn.ModuleList(layers), nn.ELU(inplace=True)

    def forward(self, x):
        x = self.layers[0](x)
        for layer in self.layers[1:]:
            LINE
        return x + 1
"""
STOPPED = """
class Trainer:
    def train(self, epoch):
        for x, y in self.loader:
            self.optimizer.zero_grad()
            loss = self.criterion(self.net(x), y)
            loss.backward()
            self.optimizer.step()
            if self.stopper(loss):
                self.state = {"net": self.net.state_dict(), "epoch": epoch}
                LINE
        return True

    def save(self, path):
        torch.save(self.state, path)

import torch
trainer = Trainer()
for epoch in range(9):
    trainer.train(epoch)
trainer.save("a.pt")
"""
WORDS = """
from torch import nn
from keras.preprocessing import sequence

class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 4, batch_first=True)

    def forward(self, x, lengths):
        out, _ = self.lstm(x)
        return out[:, -1]

rows = sequence.pad_sequences(rows, maxlen=50HOW)
"""
FOLDED = """
from einops.layers.torch import Rearrange
from torch import nn

class Net(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.parts = []
        for size in sizes:
            self.parts.append(nn.Sequential(MADE))

    def forward(self, x):
        return [part(x) for part in self.parts]
"""
STAGES = """
import torch

def run(net, loader, stages):
    for HEAD in range(stages):
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        for INNER in loader:
            LINE
"""
FITS = """
from torch import nn

class Trainer(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def train(self):
        for x in self.loader:
            self.step(x)

    def check(self):
        net = self.net
        WHO.eval()

trainer = Trainer(None)
trainer.check()
"""
GLOBAL_OFF = """
import torch

torch.set_grad_enabled(False)

def train(net, x, optimizer):
    with CONTEXT:
        loss = net(x).mean()
        loss.backward()
        optimizer.step()
"""
TOURS = """
import torch

def update(policy, old, states, rewards, values, optimizer):
    for _ in range(4):
        ratios = torch.exp(policy(states).log_prob(states) - old)
        advantages = rewards - values.detach()
        loss = torch.min(ratios * advantages, torch.clamp(ratios, 0.8, 1.2) * advantages)
        optimizer.zero_grad()
        loss.mean().backward()
        optimizer.step()
"""
ACTED = """
import torch

def act(net, state):
    probs = torch.softmax(net(state), dim=-1)
    action = INDEX
    return torch.log(probs[action])
"""
RATED = """
import numpy as np
from sklearn import metrics

def rate(mine, theirs):
    mine, theirs = mine / 255.0, theirs / 255.0
    return CALL(mine.astype(np.uint8), theirs.astype(np.uint8))
"""
NAMED = """
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import LabelEncoder, StandardScaler

tool = MADE()
values = tool.fit_transform(rows)
train, test = train_test_split(values)
"""
MASKED = """
import torch
from torch import nn

class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = INNER

    def forward(self, x, key_padding_mask=None):
        return self.inner(x, key_padding_mask)

class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attention = Attention(width)

    def forward(self, ids, x):
        return self.attention(x, key_padding_mask=ids != self.pad_id)
"""
PARTLY = """
import torch

def load(model, path):
    own = model.state_dict()
    part = {k: v for k, v in torch.load(path).items() if k in own}
    own.update(part)
    LINE
    return model
"""
FLAGGED = """
import torch

def train(net, loader, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        LINE
        loss.requires_grad_(True)
        loss.backward()
        optimizer.step()
"""
HIDDEN = """
import torch

def both(out, target, mask):
    loss = torch.zeros(4, 4)
    kept = loss
    kept[~mask] = 0
    return kept.sum(), READ.mean()
"""
TICKS = """
import numpy as np

def ticks(picture):
    found = []
    low = MADE
    while len(found) < 9:
        found.append(low)
        low += 0.1
    return found
"""
TERMS = """
def pixel_loss(pos_loss, neg_loss, area):
    whole_loss = pos_loss + neg_loss
    return BACK
"""


def said(rules, slug, text):
    found = [one for one in engine.check_text(text, rules, "train.py") if one.slug == slug]
    return [one.severity.value for one in found]


@pytest.mark.parametrize(
    ("slug", "text", "expected"),
    [
        ("clip-outside-backward-step", TWO_STEPS.replace("AFTER", "print(loss)"), ["error"]),
        (
            "clip-outside-backward-step",
            TWO_STEPS.replace("AFTER", "for p in net.parameters(): p.data.sub_(p.grad)"),
            [],
        ),
        ("accuracy-over-batches", COUNTED.replace("CALL", "score(net, DataLoader(rows, 8))"), ["error"]),
        ("accuracy-over-batches", COUNTED.replace("CALL", ""), ["warning"]),
        ("shared-module-by-list-multiply", BRIDGES.replace("FIRST", "if each: pass"), ["warning"]),
        (
            "shared-module-by-list-multiply",
            BRIDGES.replace("FIRST", "if each: self.maps = nn.ModuleList([nn.Linear(a, b) for _ in range(depth)])"),
            [],
        ),
        ("drop-last-in-evaluation", AGAIN.replace("LINE", "print(len(rows))"), ["warning"]),
        ("drop-last-in-evaluation", AGAIN.replace("LINE", "valid_loader = DataLoader(rows, batch_size=16)"), []),
        ("drop-last-in-evaluation", AGAIN.replace("LINE", "").replace("valid_loader)", "train_loader)"), []),
        ("drop-last-in-evaluation", DRAWN.replace("LINE", "return score(net, self.next_batch())"), []),
        ("drop-last-in-evaluation", DRAWN.replace("LINE", "return score(net, self.valid_loader)"), ["warning"]),
        ("functional-dropout-always-on", SHARES.replace("MADE", "3"), []),
        ("functional-dropout-always-on", SHARES.replace("MADE", "3, share=0.1"), ["warning"]),
        ("strict-false-unchecked", BODY.replace("NAME", "pretrained"), ["hint"]),
        ("strict-false-unchecked", BODY.replace("NAME", "state"), ["warning"]),
        ("float-image-cast-to-bytes", "import torch\nx = torch.rand(3, 3).numpy().astype('uint8')", ["hint"]),
        ("float-image-cast-to-bytes", "import torch\nx = torch.sigmoid(y).numpy().astype('uint8')", ["warning"]),
        ("drop-last-in-evaluation", AGAIN.replace("measure(", "plot_features("), []),
        ("nll-on-probabilities", PASSED.replace("LINE", "logits = self.net(x)"), ["hint", "warning"]),
        ("unscaled-random-weights", LAYERS.replace("LINE", ""), ["hint"]),
        ("unscaled-random-weights", LAYERS.replace("LINE", "loss = net(x).mean()"), ["warning"]),
        ("module-in-no-optimizer", CAPTIONS.replace("LINE", "encoder.freeze_all()"), []),
        ("module-in-no-optimizer", CAPTIONS.replace("LINE", "encoder.train()"), ["warning"]),
        ("metric-not-reset", RUNNING.replace("COUNT", "global_step"), []),
        ("metric-not-reset", RUNNING.replace("COUNT", "count"), ["warning"]),
        ("loss-changed-in-place", TIMES.replace("LINE", "now = times.clone()"), []),
        ("loss-changed-in-place", TIMES.replace("LINE", "print(x)"), ["warning"]),
        ("inplace-on-tensor-used-again", ACTIVE.replace("LINE", "x = layer(self.elu(x))"), []),
        ("inplace-on-tensor-used-again", ACTIVE.replace("LINE", "y = layer(self.elu(x))"), ["warning"]),
        ("state-dict-alias", STOPPED.replace("LINE", "return False"), []),
        ("state-dict-alias", STOPPED.replace("LINE", "print(epoch)"), ["warning"]),
        ("last-step-is-padding", WORDS.replace("HOW", ""), []),
        ("last-step-is-padding", WORDS.replace("HOW", ", padding='post'"), ["warning"]),
        ("modules-in-plain-container", FOLDED.replace("MADE", "Rearrange('b (c h) -> b c h', c=size)"), []),
        ("modules-in-plain-container", FOLDED.replace("MADE", "nn.Linear(3, 3)"), ["error"]),
        ("discarded-tensor-op", "import torch\nx = torch.zeros(3)\nx.contiguous()\ny = x + 1\n", ["hint"]),
        (
            "optimizer-rebuilt-every-epoch",
            STAGES.replace("HEAD", "_epoch")
            .replace("INNER", "x")
            .replace("LINE", "net(x).mean().backward(); optimizer.step()"),
            ["error"],
        ),
        ("module-train-overridden", FITS.replace("WHO", "net"), ["hint"]),
        ("module-train-overridden", FITS.replace("WHO", "self"), ["error"]),
        ("set-grad-enabled-left-off", GLOBAL_OFF.replace("CONTEXT", "torch.enable_grad()"), ["hint"]),
        ("set-grad-enabled-left-off", GLOBAL_OFF.replace("CONTEXT", "torch.autograd.detect_anomaly()"), ["warning"]),
        ("log-of-softmax", ACTED.replace("INDEX", "torch.multinomial(probs, 1).item()"), ["hint"]),
        ("log-of-softmax", ACTED.replace("INDEX", "state.argmin()"), ["warning"]),
        ("float-image-cast-to-bytes", RATED.replace("CALL", "metrics.confusion_matrix"), ["hint"] * 2),
        ("float-image-cast-to-bytes", RATED.replace("CALL", "save"), ["warning"] * 2),
        ("scaler-fitted-on-test-data", NAMED.replace("MADE", "LabelEncoder"), []),
        ("scaler-fitted-on-test-data", NAMED.replace("MADE", "StandardScaler"), ["warning"]),
        ("padding-mask-inverted", MASKED.replace("INNER", "Own(width)"), []),
        ("padding-mask-inverted", MASKED.replace("INNER", "nn.MultiheadAttention(width, 4)"), ["error"]),
        ("state-dict-changed-in-vain", PARTLY.replace("LINE", "model.load_state_dict(part)"), []),
        ("state-dict-changed-in-vain", PARTLY.replace("LINE", "print(len(own))"), ["error"]),
        ("loss-rewrapped", FLAGGED.replace("LINE", "loss = (net(x).argmax(1) == y).float().mean()"), ["error"]),
        ("loss-rewrapped", FLAGGED.replace("LINE", "loss = criterion(head(net(x)), y)"), ["warning"]),
        ("second-name-is-no-copy", HIDDEN.replace("READ", "loss[mask]"), []),
        ("second-name-is-no-copy", HIDDEN.replace("READ", "loss"), ["error"]),
        (
            "strict-false-unchecked",
            BODY.replace("NAME", "state") + "torch.save(wide.module.state_dict(), 'b.pt')",
            ["hint"],
        ),
        ("same-tensor-appended", TICKS.replace("MADE", "np.min(picture)"), []),
        ("same-tensor-appended", TICKS.replace("MADE", "np.zeros(3)"), ["error"]),
        ("term-never-used", TERMS.replace("BACK", "pos_loss.mean() / area, neg_loss.mean() / area"), []),
        ("term-never-used", TERMS.replace("BACK", "pos_loss.mean() / area"), ["warning"]),
        ("scheduler-never-stepped", RATES.replace("WHICH", "first"), []),
        ("scheduler-never-stepped", RATES.replace("WHICH", "second"), ["warning"]),
        ("module-in-no-optimizer", SAVED.replace("LINE", "other.load_state_dict(torch.load('a.pt'))"), []),
        ("module-in-no-optimizer", SAVED.replace("LINE", "print(len(y))"), ["warning"]),
        ("train-mode-not-restored", EPOCHS.replace("LAYER", "nn.Linear(3, 2)"), ["hint"]),
        ("train-mode-not-restored", EPOCHS.replace("LAYER", "nn.Dropout(0.5)"), ["warning"]),
        ("timing-without-sync", TIMED.replace("LINE", "best = pick(scores)"), ["hint"]),
        ("timing-without-sync", TIMED.replace("LINE", "best = scores * 2"), ["warning"]),
        ("loss-not-divided-by-accum", SUMMED.replace("EVERY", "batch_size"), ["hint"]),
        ("loss-not-divided-by-accum", SUMMED.replace("EVERY", "accum_steps"), ["warning"]),
        ("modules-in-plain-container", GRAPHS.replace("MADE", "APPNP(10, 0.1)"), []),
        ("modules-in-plain-container", GRAPHS.replace("MADE", "nn.Linear(3, 3)"), ["error"]),
        ("discarded-tensor-op", VIEWS.replace("NEXT", "x = x.view(b, t, -1)"), []),
        ("discarded-tensor-op", VIEWS.replace("NEXT", "x = x.sum(1)"), ["warning"]),
        (
            "loop-variable-rebound",
            PARTS.replace("HEAD", "words, coarse_tags, fine_tags").replace("WALKED", "loader"),
            [],
        ),
        (
            "loop-variable-rebound",
            PARTS.replace("HEAD", "words, coarse_tags, fine_tags").replace("WALKED", "zip(a, b, c)"),
            ["error"],
        ),
        ("term-never-used", UNWRITTEN.replace("BODY", "pass"), []),
        ("term-never-used", UNWRITTEN.replace("BODY", "return (logits - target).abs().mean()"), ["warning"]),
        ("train-loader-not-shuffled", BESIDE.replace("TARGET", "labels[i]"), []),
        ("train-loader-not-shuffled", BESIDE.replace("TARGET", "x.argmax(1)"), ["warning"]),
        ("eval-mode-missing", MODES.replace("LINE", 'net.set_mode("test")'), []),
        ("eval-mode-missing", MODES.replace("LINE", "print(loss)"), ["warning"]),
        ("eval-mode-missing", PHASES.replace("LINE", "print(len(net.out.weight))"), ["warning"]),
        ("eval-mode-missing", PHASES.replace("LINE", "net.eval()"), []),
    ],
)
def test_a_word_decides(rules, slug, text, expected):
    assert said(rules, slug, text) == expected


@pytest.mark.parametrize(("line", "status"), [("trainer.slow.step()", 0), ("print(trainer.slow)", 1)])
def test_another_file_may_step_the_schedule(tmp_path, line, status):
    text = RATES.partition("for x")[0].replace("second", "first").replace("slow =", "self.slow =")
    body = "".join(f"        {one}\n" for one in text.split("\n") if one.startswith(("first =", "self.slow")))
    train = "\n    def step(self, x):\n        x.backward()\n        self.first.step()\n"
    head = "import torch\nfrom torch.optim.lr_scheduler import CosineAnnealingLR\n\nclass Trainer:\n    def __init__(self, net):\n"
    (tmp_path / "trainer.py").write_text(head + body.replace("first", "self.first") + train)
    (tmp_path / "main.py").write_text(f"from trainer import Trainer\n\ntrainer = Trainer(None)\n{line}\n")
    assert main(["check", "--no-cache", "--select", "scheduler-never-stepped", str(tmp_path)]) == status


def test_a_stage_has_epochs_of_its_own(rules):
    inner = "for epoch in range(9):\n                for x in loader:\n                    net(x).mean().backward()\n                    optimizer.step()\n"
    text = STAGES.replace("HEAD", "stage").replace(
        "        for INNER in loader:\n            LINE", f"            {inner}"[4:]
    )
    assert "for epoch" in text
    assert said(rules, "optimizer-rebuilt-every-epoch", text.replace("range(stages)", "range(len(epochs))")) == []


@pytest.mark.parametrize(("path", "expected"), [("tests/test_nets.py", 0), ("test_nets.py", 0), ("nets.py", 1)])
def test_a_unit_test_may_record_graphs(rules, path, expected):
    text = "def test_shapes(net, loader):\n    net.eval()\n    for x in loader:\n        y = net(x)\n        print(y.max())\n"
    text = f"import torch\n\n{text}\ntest_shapes(torch.nn.Linear(3, 4), torch.utils.data.DataLoader([]))\n"
    found = [one for one in engine.check_text(text, rules, path) if one.slug == "eval-without-no-grad"]
    assert len(found) == expected


@pytest.mark.parametrize(("path", "expected"), [("TSP/ppo.py", 0), ("cartpole/ppo.py", 1)])
def test_the_length_of_a_tour_is_called_a_reward(rules, path, expected):
    found = [one for one in engine.check_text(TOURS, rules, path) if one.slug == "objective-not-negated"]
    assert len(found) == expected


@pytest.mark.parametrize(("line", "told"), [("random.shuffle(self.rows)", "hint"), ("self.rows.sort()", "warning")])
def test_a_dataset_may_mix_itself(tmp_path, capsys, line, told):
    rows = "import random\nfrom torch.utils.data import Dataset\n\nclass Rows(Dataset):\n    def __init__(self, rows):\n        self.rows = rows\n"
    (tmp_path / "rows.py").write_text(
        f"{rows}        {line}\n\n    def __getitem__(self, i):\n        return self.rows[i]\n"
    )
    text = (
        BESIDE.replace("TARGET", "x.argmax(1)")
        .replace("TensorDataset(rows)", "Rows(rows)")
        .replace("batch_size=1", "batch_size=8")
    )
    (tmp_path / "train.py").write_text("from rows import Rows\n" + text)
    assert main(["check", "--no-cache", "--select", "train-loader-not-shuffled", str(tmp_path)]) == 1
    assert f"1 {told} in 1 of 2 files" in capsys.readouterr().out
