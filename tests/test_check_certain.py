"""What look 29 found wrong in fresh repositories, written anew: an error is wrong whatever stands around it, the rest is said more softly or not at all."""

import pytest

from torchlore.check import engine
from torchlore.cli import main


def said(rules, slug, text):
    """The severities of what one rule says."""
    return [found.severity.value for found in engine.check_text(text, {slug: rules[slug]})]


BASE = """
from torch import nn

class Base(nn.Module):
    def forward(self, x):
        return self.Forward(x=x)
"""
CHILD = """
from torch import nn
from base import Base

class Child(Base):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def Forward(self, x):
        return self.fc(x)
"""
FALLBACK = """
import torch

def fix(enable=True):
    try:
        NEW
    except Exception:
        torch.set_deterministic(enable)
"""
DISCARDED = """
import torch

def f(x):
    x = torch.relu(x)
    x.LINE
    return x + 1
"""
MOVED = """
import torch

def shapes(net: torch.nn.Linear, x, device):
    out = torch.relu(net(x))
    out.to(device)
    return out
"""
MOVED_IN_LOOP = """
import torch

def train(net, optimizer, device):
    for _ in range(1000):
        x = torch.rand(4, 3)
        x.to(device)
        loss = net(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
PACKED = """
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(8, 8, batch_first=True)

    def forward(self, x, lengths):
        lengths, order = lengths.sort(descending=True)
        packed = pack_padded_sequence(x[order], lengths, batch_first=True)
        out, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return out
"""
FROM_KEYS = """
import torch

def collect(names, pairs):
    table = dict.fromkeys(names, [])
    for name, value in pairs:
        table[name].append(torch.tensor(value))
    return table
"""
SAVED = """
import torch

def train(net, loader):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    state = torch.load("last.pt")
    net.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optim"])
    for epoch in range(state["epoch"], 100):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()
        scheduler.step()
        torch.save({"model": net.state_dict(), "optim": optimizer.state_dict(), LAST"epoch": epoch}, "last.pt")
        torch.save({"model": net.state_dict(), "optim": optimizer.state_dict(), "epoch": epoch}, f"{epoch}.pt")
"""
POSITIONS = """
import torch
from torch import nn

class Positions(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("pe", torch.zeros(500, 1, width))

    def forward(self, x):
        return x + self.pe[:x.size(0)]

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(8, 8, batch_first=True)
        PLACE

    def forward(self, x):
        return self.rnn(BEFORE)[0]
"""
NORMED = """
import torch
from torch import nn

class Scale(nn.Module):
    INIT
    def forward(self, x):
        var = torch.var(x, dim=0)
        return x / (var.sqrt() + 1e-5)
"""
BARRIER = """
import torch.distributed as dist

def save(is_main_process, write):
    if not is_main_process:
        dist.barrier()
        return
    write()
    LINE
"""
PARTS = """
import torch
from torch import nn

class Part(nn.Module):
    INIT
    def forward(self, x):
        return x

class Chain(nn.Module):
    def __init__(self, parts: list[Part]):
        super().__init__()
        self.parts = parts

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x
"""
RETAINED = """
import torch

def gradients(net, criterion, x, y, optimizer):
    outs = net(x)
    found = []
    for out, target in zip(outs.chunk(4), y.chunk(4)):
        loss = criterion(out, target)
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
    return found
"""
DROPPED = """
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def forward(self, x):
        return F.dropout(x, RATE)
"""
ONE_SAMPLE = """
import torch
from torch import nn

def train(net, loader, optimizer):
    criterion, right = nn.CrossEntropyLoss(), 0
    for x, label in loader:
        out = net(x)
        loss = criterion(out, label)
        LINE
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return right
"""
PYRAMID = """
import torch
from torch import nn

class Pyramid:
    def __init__(self, x):
        self.net = nn.Linear(3, 3)
        self.levels = []
        BEGIN
    def add(self, x):
        out = self.net(x)
        self.levels.append(out.max())

    def learn(self, x, optimizer):
        self.net(x).sum().backward()
        optimizer.step()
"""
OWN_MODES = """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout()

    def eval(self, image):
        return self.drop(image)

net = Net()
net.eval(GIVEN)
"""
ADAPTED = """
import torch
from torch import nn

class Adapt(nn.Module):
    def forward(self, x, y):
        head = nn.Linear(8, 2)
        LINE
        return head(x)
"""
ATTACK = """
import torch
from torch.autograd import Variable

def attack(net, x, NAME):
    delta = Variable(noise, requires_grad=True).cuda()
    net(x + delta).sum().backward()
    return delta.grad.sign()
"""
COMPILED = """
import torch
from torch import nn

def train(optimizer):
    net = torch.compile(nn.Linear(2, 2))
    torch.save(net.state_dict(), "net.pt")

def resume(net):
    net.load_state_dict(torch.load("net.pt"))
"""


def check(folder, *files):
    """What `lore check` prints of a folder of files."""
    for name, text in files:
        (folder / name).write_text(text)
    return main(["check", "--no-cache", "--format", "concise", str(folder)])


def test_a_method_that_the_base_class_calls_is_no_slip_of_the_pen(tmp_path, capsys):
    assert check(tmp_path, ("base.py", BASE), ("child.py", CHILD)) == 0
    assert "misspelt-method" not in capsys.readouterr().out
    assert check(tmp_path, ("base.py", BASE.replace("self.Forward(x=x)", "x")), ("child.py", CHILD)) == 1
    assert "misspelt-method" in capsys.readouterr().out


def test_the_old_name_behind_the_new_one_that_failed(rules):
    assert not said(
        rules, "removed-torch-function", FALLBACK.replace("NEW", "torch.use_deterministic_algorithms(enable)")
    )
    assert said(rules, "removed-torch-function", FALLBACK.replace("NEW", "print(enable)")) == ["error"]


@pytest.mark.parametrize(("line", "severity"), [("unsqueeze(1)", "warning"), ("repeat(2, 1)", "warning"), ("squeeze(0)", "warning"),
                                                ("clamp(0, 1)", "error"), ("masked_fill(x > 0, 0.0)", "error")])  # fmt: skip
def test_a_shape_that_is_thrown_away_may_broadcast(rules, line, severity):
    assert said(rules, "discarded-tensor-op", DISCARDED.replace("LINE", line)) == [severity]


def test_a_move_in_every_turn_is_surer_than_one(rules):
    assert said(rules, "discarded-move", MOVED) == ["warning"]
    assert said(rules, "discarded-move", MOVED_IN_LOOP) == ["error"]


@pytest.mark.parametrize(("slug", "text"), [("sorted-for-packing-only", PACKED), ("one-list-many-times", FROM_KEYS)])
def test_what_may_be_meant_is_a_warning(rules, slug, text):
    assert said(rules, slug, text) == ["warning"]


def test_a_schedule_that_another_file_holds(rules):
    assert said(rules, "scheduler-not-in-checkpoint", SAVED.replace("LAST", '"sched": scheduler.state_dict(), ')) == [
        "hint"
    ]
    assert said(rules, "scheduler-not-in-checkpoint", SAVED.replace("LAST", "")) == ["warning"] * 2


def test_positions_of_a_class_that_nobody_makes(rules):
    unused = POSITIONS.replace("PLACE", "self.norm = nn.LayerNorm(8)").replace("BEFORE", "x")
    used = POSITIONS.replace("PLACE", "self.positions = Positions(8)").replace("BEFORE", "self.positions(x)")
    assert not said(rules, "positions-along-the-batch", unused)
    assert said(rules, "positions-along-the-batch", used) == ["warning"]


def test_a_root_beside_its_epsilon_where_nothing_learns(rules):
    layers = "def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(3, 3)\n"
    assert said(rules, "nan-gradient-op", NORMED.replace("INIT", "")) == ["hint"]
    assert said(rules, "nan-gradient-op", NORMED.replace("INIT", layers)) == ["warning"]


def test_ranks_that_leave_meet_the_others_further_down(rules):
    assert not said(rules, "collective-in-rank-branch", BARRIER.replace("LINE", "dist.barrier()"))
    assert said(rules, "collective-in-rank-branch", BARRIER.replace("LINE", "print()")) == ["warning"]


def test_a_list_of_parts_without_layers(rules):
    layers = "def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(3, 3)\n"
    assert not said(rules, "modules-in-plain-container", PARTS.replace("INIT", ""))
    assert said(rules, "modules-in-plain-container", PARTS.replace("INIT", layers)) == ["warning"]


def test_chunks_of_one_output_share_their_graph(rules):
    assert not said(rules, "retain-graph-habit", RETAINED)


def test_a_dropout_of_nothing(rules):
    assert not said(rules, "functional-dropout-always-on", DROPPED.replace("RATE", "0.0"))
    assert said(rules, "functional-dropout-always-on", DROPPED.replace("RATE", "0.5")) == ["warning"]


def test_one_sample_has_one_best_class(rules):
    alone = "if torch.argmax(out) == label:\n            right += 1"
    batch = "right += (torch.argmax(out) == label).sum().item()"
    assert not said(rules, "accuracy-of-mismatched-shapes", ONE_SAMPLE.replace("LINE", alone))
    assert said(rules, "accuracy-of-mismatched-shapes", ONE_SAMPLE.replace("LINE", batch)) == ["error"]


def test_a_list_that_its_own_maker_fills(rules):
    filled = (PYRAMID.partition("    def add")[0] + "    def learn" + PYRAMID.partition("def learn")[2]).replace(
        "BEGIN", "out = self.net(x)\n        self.levels.append(out.max())"
    )
    assert not said(rules, "accumulate-loss-with-graph", filled)
    assert said(rules, "accumulate-loss-with-graph", PYRAMID.replace("BEGIN", "")) == ["warning"]


def test_an_eval_that_is_given_something_asks_for_no_mode(rules):
    assert "error" not in said(rules, "module-train-overridden", OWN_MODES.replace("GIVEN", "1"))
    assert said(rules, "module-train-overridden", OWN_MODES.replace("GIVEN", "")) == ["error"]


def test_a_head_that_the_forward_pass_trains(rules):
    trained = "opt = torch.optim.SGD(head.parameters(), lr=0.1)\n        (head(x) - y).pow(2).mean().backward()\n        opt.step()"
    assert not said(rules, "layer-created-in-forward", ADAPTED.replace("LINE", trained))
    assert said(rules, "layer-created-in-forward", ADAPTED.replace("LINE", "print(y)")) == ["error"]


def test_a_move_of_what_was_given_may_give_it_back(rules):
    assert not said(rules, "result-as-parameter", ATTACK.replace("NAME", "noise"))
    assert said(rules, "result-as-parameter", ATTACK.replace("NAME", "n").replace("(noise,", "(torch.zeros(3),")) == [
        "error"
    ]


def test_a_compiled_net_may_be_compiled_again(rules):
    assert said(rules, "data-parallel-prefix", COMPILED) == ["hint"]
    assert said(
        rules, "data-parallel-prefix", COMPILED.replace("\ndef resume(net):\n", "\n    net = nn.Linear(2, 2)\n")
    ) == ["warning"]


PAIRED = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 3)
        self.proj = nn.Linear(3, 3)
        self.NAME = nn.Linear(3, 3)
        self.pairs = [[self.proj, self.NAME]]
        for p in self.body.parameters():
            p.requires_grad = False

    def forward(self, x):
        with torch.no_grad():
            target = self.NAME(x)
        return self.proj(x), target
"""
RATES = """
import torch

class Wrapped:
    def __init__(self, net):
        self.optim = torch.optim.SGD(net.parameters(), lr=0.1)

    def step(self, rate):
        LINE
        self.optim.defaults["lr"] = rate
        self.optim.step()
"""
TWO_LISTS = """
import torch

def NAME(n):
    table = [[1]] * n
    table[0] *= 2
    return table
"""
GROWN = """
import torch

def step(net, parts, optimizer):
    loss = 0
    loss += torch.nn.functional.mse_loss(net(parts[0]), parts[1])
    first = loss
    LINE
    loss.backward()
    optimizer.step()
    return first.item()
"""
MEASURED = """
import torchmetrics

class Model:
    def __init__(self):
        self.metric = torchmetrics.METRIC

    def measure(self, gt_rgb, predicted_rgb):
        return self.metric(gt_rgb, predicted_rgb)
"""
CYCLED = """
import torch
from torch.utils.data import DataLoader

def run(net, data, cycle):
    val_loader = DataLoader(data, batch_size=4, drop_last=True)
    LINE
    return accuracy(net(next(val_loader)))
"""
STATES = """
import torch
from collections import OrderedDict

def train(nets, optimizer, loader, every):
    for step, x in enumerate(loader):
        optimizer.zero_grad()
        nets["net_0"](x).mean().backward()
        optimizer.step()
        if step % every == 0:
            states = OrderedDict()
            for m in range(2):
                name = f"net_{m}"
                states[name] = nets[name].state_dict()
                name = f"optim_{m}"
                states[name] = nets[name].state_dict()
            torch.save(states, f"{step}.pt")
"""
BUILT = """
import torch
from torch import nn

def test_same(build, loader):
    model = nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    kept = model.weight.detach()
    LINE
    for x in loader:
        model(x).mean().backward()
        optimizer.step()
    return torch.allclose(kept, model.weight)
"""
WRAPPERS = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, net, paths):
        super().__init__()
        self.net = net
        self.wrappers = dict()
        for path in paths:
            wrapper = nn.Linear(3, 3)
            LINE
            self.wrappers[path] = wrapper

    def forward(self, x):
        return self.wrappers["a"](x)
"""


@pytest.mark.parametrize(
    ("slug", "text", "expected"),
    [
        ("trainable-layer-under-no-grad", PAIRED.replace("NAME", "proj_m"), []),
        ("trainable-layer-under-no-grad", PAIRED.replace("NAME", "head"), ["warning"]),
        ("misspelt-setting", RATES.replace("LINE", "for g in self.optim.param_groups:\n            g['lr'] = rate"), []),
        ("misspelt-setting", RATES.replace("LINE", "print(rate)"), ["error"]),
        ("one-list-many-times", TWO_LISTS.replace("NAME", "test_lengths"), []),
        ("one-list-many-times", TWO_LISTS.replace("NAME", "lengths"), ["error"]),
        ("loss-changed-in-place", GROWN.replace("LINE", "loss = loss + net(parts[0]).sum()"), []),
        ("loss-changed-in-place", GROWN.replace("LINE", "loss += net(parts[0]).sum()"), ["warning"]),
        ("metric-arguments-swapped", MEASURED.replace("METRIC", "PeakSignalNoiseRatio(data_range=1.0)"), []),
        ("metric-arguments-swapped", MEASURED.replace("METRIC", "Precision()"), ["warning"]),
        ("drop-last-in-evaluation", CYCLED.replace("LINE", "val_loader = cycle(val_loader)"), []),
        ("drop-last-in-evaluation", CYCLED.replace("LINE", "val_loader = list(val_loader)"), ["warning"]),
        ("state-dict-alias", STATES, []),
        ("weights-kept-by-reference", BUILT.replace("LINE", "model, optimizer = build()"), []),
        ("weights-kept-by-reference", BUILT.replace("LINE", "print(kept)"), ["warning"]),
        ("modules-in-plain-container", WRAPPERS.replace("LINE", "set_module(net, path, wrapper)"), []),
        ("modules-in-plain-container", WRAPPERS.replace("LINE", "print(path)"), ["error"]),
    ],
)  # fmt: skip
def test_a_word_decides(rules, slug, text, expected):
    assert said(rules, slug, text) == expected


PAYLOAD = """
import torch

A, B = torch.rand(9, 9), [torch.rand(9, 9)]

def run():
    LINE
    for matrix in B:
        matrix.to("cuda", non_blocking=True)
"""
PEFT = """
from peft import PeftModel

def hook(models, folder):
    while models:
        model = models.pop()
        PeftModel.from_pretrained(GIVEN)
"""
ALIAS = """
import torch
from torch.nn import init

def old(layer: torch.nn.Linear):
    LINE
"""
SPARE = """
import numpy as np
from torch.utils.data import DataLoader, Dataset

class Clips(Dataset):
    def __init__(self, files):
        self.files, self.seed = files, 0
        self.rng = np.random.RandomState(0)

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        BODY

loader = DataLoader(Clips([]), num_workers=4)
"""
FILLED = """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(8, 8, 3)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                m.weight.data.normal_()REST
"""
SHARED = """
import torch

def fit(net, loader, optimizer):
    for x in loader:
        loss = net(x).mean()
        optimizer.zero_grad()
        # WORD
        loss.backward(retain_graph=True)
        optimizer.step()
"""
LOSSES = """
import torch

def NAME(net, optimizer, x):
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = net(x).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss)
    return losses
"""
DEPTH = """
import torchvision.transforms.functional as TF

def load(depth):
    return TF.to_tensor(depth) / 255.0
"""


@pytest.mark.parametrize(
    ("slug", "text", "expected"),
    [
        ("discarded-tensor-op", PAYLOAD.replace("LINE", "torch.matmul(A, A)"), []),
        ("discarded-tensor-op", PAYLOAD.replace("LINE", "x = 1\n    torch.matmul(A, A)"), ["error"]),
        ("discarded-move", PAYLOAD.replace("LINE", "torch.matmul(A, A)"), []),
        ("from-pretrained-discarded", PEFT.replace("GIVEN", "model.base_model, folder"), []),
        ("from-pretrained-discarded", PEFT.replace("GIVEN", "folder"), ["hint"]),
        ("method-not-called", ALIAS.replace("LINE", "init.normal_ = init.normal"), []),
        ("method-not-called", ALIAS.replace("LINE", "layer.weight.normal_ = 0.1"), ["error"]),
        ("dataset-rng-per-worker", SPARE.replace("BODY", "try:\n            return self.files[index]\n        except OSError:\n            return self.files[self.rng.choice(9)]"), []),
        ("dataset-rng-per-worker", SPARE.replace("BODY", "return self.files[self.rng.choice(9)]"), ["warning"]),
        ("unscaled-random-weights", FILLED.replace("REST", ".fmod_(2).mul_(0.01)"), []),
        ("unscaled-random-weights", FILLED.replace("REST", ""), ["warning"]),
        ("retain-graph-habit", SHARED.replace("WORD", "Need to keep the results for multiple loops"), []),
        ("retain-graph-habit", SHARED.replace("WORD", "gradients"), ["warning"]),
        ("accumulate-loss-with-graph", LOSSES.replace("NAME", "test_it_learns"), []),
        ("accumulate-loss-with-graph", LOSSES.replace("NAME", "fit"), ["error"]),
        ("pixels-scaled-twice", DEPTH, ["warning"]),
    ],
)  # fmt: skip
def test_another_word_decides(rules, slug, text, expected):
    assert said(rules, slug, text) == expected


EVALUATED = """
import torch

def no_grad_wrapper(func):
    def inner(*args, **kwargs):
        with torch.no_grad():
            return func(*args, **kwargs)
    return inner

DECORATOR
def evaluate(net: torch.nn.Linear, loader):
    net.eval()
    right = 0
    print(1)
    print(2)
    print(3)
    print(4)
    print(5)
    for x, y in LOOP:
        right += (net(x).argmax(1) == y).sum().item()
    return right
"""


@pytest.mark.parametrize(
    ("decorator", "loop", "expected"),
    [
        ("@no_grad_wrapper", "loader", []),
        ("", "loader", ["warning"]),
    ],
)
def test_a_decorator_of_ones_own_switches_recording_off(rules, decorator, loop, expected):
    text = EVALUATED.replace("DECORATOR", decorator).replace("LOOP", loop)
    assert said(rules, "eval-without-no-grad", text) == expected


def test_one_turn_by_a_constant(rules):
    text = "import torch\nnet = torch.nn.Linear(2, 2)\nturns = 1\nfor i in range(turns):\n    net.eval()\n    x = net(torch.rand(2))\n    print(x)\n"
    assert not said(rules, "eval-without-no-grad", text)
    assert said(rules, "eval-without-no-grad", text.replace("turns = 1", "turns = 100")) == ["warning"]


STAND_IN = """
import torch

def train(net, loader, amp):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    if amp:
        scaler = torch.amp.GradScaler("cuda")
    else:
        class NullScaler:
            def scale(self, x): return x
            def step(self, optimizer): optimizer.step()
            def update(self): pass
        scaler = NullScaler()
    for x in loader:
        optimizer.zero_grad()
        scaler.scale(net(x).mean()).backward()
        STEP
        scaler.update()
"""
RECAST = """
import torch

def recast(self, other):
    NAME.load_state_dict(NAME.state_dict())
"""
LOOSE = """
import torch
from torch import nn

def resume(net: nn.Linear, path):
    net.load_state_dict(torch.load(path)["g"], strict=False)
    net = nn.parallel.DistributedDataParallel(net)
    torch.save({"g": NAME.state_dict()}, path)
"""


@pytest.mark.parametrize(
    ("slug", "text", "expected"),
    [
        ("amp-step-without-scaler", STAND_IN.replace("STEP", "scaler.step(optimizer)"), []),
        ("amp-step-without-scaler", STAND_IN.replace("STEP", "optimizer.step()"), ["error"]),
        ("state-dict-changed-in-vain", RECAST.replace("NAME", "self"), []),
        ("state-dict-changed-in-vain", RECAST.replace("NAME", "other"), ["error"]),
        ("strict-false-unchecked", LOOSE.replace("NAME", "g_module"), ["hint"]),
        ("strict-false-unchecked", LOOSE.replace("NAME", "net"), ["warning"]),
    ],
)
def test_yet_another_word_decides(rules, slug, text, expected):
    assert said(rules, slug, text) == expected


STEPS = """
import torch
from torch import nn

def init_weights(m):
    if isinstance(m, nn.Linear):
        nn.init.xavier_uniform_(m.weight)

def step(net, optimizer, x, y):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
"""


def test_an_initialiser_that_another_file_asks_for(tmp_path, capsys):
    check(tmp_path, ("steps.py", STEPS))
    assert "initialiser-reaches-nothing" in capsys.readouterr().out
    check(
        tmp_path,
        ("main.py", "import steps\nfrom torch import nn\nnet = nn.Linear(3, 1)\nnet.apply(steps.init_weights)\n"),
    )
    assert "initialiser-reaches-nothing" not in capsys.readouterr().out
