"""Values: what an expression is, and that the unknown stays unknown."""

import ast
import subprocess
import sys

import pytest

from torchlore.check import dims, values
from torchlore.check.source import Source

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nfrom torch.utils.data import DataLoader, TensorDataset\n"
NET = """
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(4, 1)
        self.act = nn.Softmax(dim=1)
        self.w = nn.Parameter(torch.ones(3))
        self.register_buffer("mean", torch.zeros(3))
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(n)])

    def forward(self, x):
        for layer in self.layers:
            x = F.relu(layer(x))
        return self.act(self.fc(x))

net = Net(3)
"""


def last(text):
    """The source and the expression of its last line."""
    source = Source(HEAD + text)
    return source, source.tree.body[-1].value


KINDS = {
    "torch.zeros(3)": "tensor",
    "nn.Linear(1, 2)": "module",
    "nn.CrossEntropyLoss()": "loss",
    "nn.Sequential(nn.ReLU())": "sequential",
    "torch.optim.Adam(p)": "optimizer",
    "torch.optim.lr_scheduler.StepLR(o, 1)": "scheduler",
    "torch.amp.GradScaler()": "scaler",
    "DataLoader(d)": "loader",
    "torch.zeros(3).numpy()": "ndarray",
    "torch.zeros(3).sum().item()": "number",
    "torch.zeros(3) + 1": "tensor",
    "torch.zeros(3) > 1": "tensor",
    "[1, 2]": "list",
    "nn.Linear(1, 2).parameters()": "parameters",
    "nn.Linear(1, 2).state_dict()": "state_dict",
    "nn.Linear(1, 2).weight": "parameter",
    "nn.Linear(1, 2).cuda()": "module",
    "nn.DataParallel(nn.Linear(1, 2))": "module",
    "'a'": "string",
    "None": "none",
    "unknown(3)": "",
    "torch.load(f)": "",
}


@pytest.mark.parametrize("text", KINDS)
def test_kinds_of_single_expressions(text):
    source, node = last(text)
    assert values.kind(source, node) == ({KINDS[text]} if KINDS[text] else set())


THROUGH = {
    "x = torch.zeros(3)\ny = x\ny": "tensor",
    "a, b = torch.zeros(3), nn.ReLU()\nb": "module",
    "def f():\n    return torch.zeros(3)\nf()": "tensor",
    "def f(x):\n    return x\nf(torch.zeros(1))": "tensor",
    "def f(x: torch.Tensor):\n    return x\nf(unknown)": "tensor",
    "def f(x: 'torch.Tensor | None'):\n    return x\nf(unknown)": "",
    "from typing import Optional\ndef f(x: Optional[torch.Tensor] = None):\n    return x\nf(unknown)": "tensor",
    "v, i = torch.zeros(3).max(0)\ni": "tensor",
    "for x, y in DataLoader(TensorDataset(a, b)):\n    pass\ny": "tensor",
    "for i, (x, y) in enumerate(DataLoader(TensorDataset(a, b))):\n    pass\nx": "tensor",
    "for n, p in nn.Linear(1, 2).named_parameters():\n    pass\np": "parameter",
    "for m in nn.Linear(1, 2).modules():\n    pass\nm": "module",
    NET + "net": "module",
    NET + "net.w": "parameter",
    NET + "net.mean": "tensor",
    NET + "net.fc": "module",
    NET + "net.layers[0]": "module",
    NET + "net(torch.ones(2, 4))": "tensor",
    "x = None\nif c:\n    x = torch.zeros(3)\nx": "tensor",
    "x = 1\nif c:\n    x = unknown()\nx": "",
    "x = torch.zeros(1)\nfor _ in range(3):\n    x = x * 2\nx": "tensor",
    "total = 0\nfor x in torch.zeros(3):\n    total += x\n    total += 1\ntotal": "tensor number",
    "def f(x):\n    return f(x)\nf(1)": "",
    "m = nn.Linear(1, 2)\nif c:\n    m = nn.DataParallel(m)\nm": "module",
    "from copy import deepcopy\ndeepcopy(nn.Linear(1, 2))": "module",
    "class A:\n    def __init__(self):\n        self.o = torch.optim.SGD(p)\nA().o": "optimizer",
}


@pytest.mark.parametrize("text", THROUGH, ids=lambda text: text[-40:].replace("\n", "; "))
def test_kinds_go_through_names_functions_and_classes(text):
    source, node = last(text)
    assert values.kind(source, node) - {"none"} == set(THROUGH[text].split())


STATES = {
    "torch.softmax(x, 1)": "probs",
    "F.log_softmax(x, 1)": "logprobs",
    "nn.Linear(2, 2)(x)": "logits",
    "nn.Linear(2, 2)(x).view(-1).sigmoid()": "sigmoid",
    "torch.log(torch.softmax(x, 1))": "logprobs",
    "nn.Sequential(nn.Linear(2, 2), nn.Softmax(1))(x)": "probs",
    "nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Sigmoid()), nn.Flatten())(x)": "sigmoid",
    "nn.Linear(2, 2)(x) / 2.0": "logits",
    "nn.Sequential(nn.Softmax(1), nn.Linear(2, 2))(x)": "logits",
    "torch.softmax(x, 1) @ y": None,
    "1 - torch.sigmoid(x)": None,
    NET + "out = net(torch.ones(2, 4))\nout.squeeze(1)": "probs",
    NET + "nn.DataParallel(net).cuda()(torch.ones(2, 4))": "probs",
    "y = nn.Linear(2, 2)(x)\nif c:\n    y = y.softmax(1)\ny": None,
}


@pytest.mark.parametrize("text", STATES, ids=lambda text: text[-40:])
def test_activations(text):
    source, node = last(text)
    found = values.state(source, node)
    assert (found.state if found else None) == STATES[text]


ATTACHED = {
    "nn.Linear(2, 2)(x)": True,
    "nn.Linear(2, 2)(x).detach()": False,
    "F.cross_entropy(nn.Linear(2, 2)(x), y)": True,
    "nn.Linear(2, 2)(x).mean() * 3": True,
    "torch.zeros(3)": False,
    "torch.zeros(3, requires_grad=True)": True,
    "torch.zeros(3) + torch.ones(3)": False,
    "unknown()": None,
    "with torch.no_grad():\n    y = nn.Linear(2, 2)(x)\ny": False,
    NET + "@torch.no_grad()\ndef f():\n    return net(torch.ones(1, 4))\nf()": False,
}


@pytest.mark.parametrize("text", ATTACHED, ids=lambda text: text[-40:])
def test_graphs(text):
    source, node = last(text)
    assert values.attached(source, node) is ATTACHED[text]


SHAPES = {
    "torch.zeros(3, n)": (3, "n"),
    "nn.Linear(4, 1)(x)": (None, 1),
    "nn.Linear(4, 1)(x).squeeze(-1)": (None,),
    "torch.zeros(3, 4).sum(1)": (3,),
    "torch.zeros(3, 4).sum(dim=1, keepdim=True)": (3, 1),
    "torch.zeros(3, 4).transpose(0, 1)": (4, 3),
    "torch.zeros(3).unsqueeze(1)": (3, 1),
    "torch.ones(1).view(b, l, h, -1)": ("b", "l", "h", -1),
    "F.mse_loss(torch.ones(1), y)": (),
    "torch.zeros(3)[0]": (),
    "torch.zeros(3, 4)[:, 0]": (3,),
    "torch.zeros(3, 4)[:, :1]": (3, 1),
    "torch.zeros(3, 4)[i : i + 2]": ("N", 4),
    "torch.zeros(3, 4)[None, 0]": (1, 4),
    "torch.zeros(3, 4)[unknown()]": None,
    "torch.zeros(3, 4)[torch.randperm(3)]": ("N", 4),
    "torch.zeros(3, 4) @ torch.ones(4)": (3,),
    "torch.zeros(3, 4) @ torch.ones(4, 2)": (3, 2),
    "torch.zeros(3, 4)[:, 0] > 0": (3,),
    "for a, b in torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.zeros(9, 4), torch.zeros(9))):\n    pass\nb": (
        "N",
    ),
    "for a in torch.zeros(9, 4).split(3):\n    pass\na": ("N", 4),
}


@pytest.mark.parametrize("text", SHAPES)
def test_shapes(text):
    source, node = last("x = unknown()\ny = unknown()\n" + text)
    assert values.shape(source, node) == SHAPES[text]


def test_weak_evidence_is_kept_apart():
    source, node = last("def f(optimizer):\n    return optimizer\noptimizer")
    assert not values.kind(source, node)
    assert values.kind(source, node, weak=True) == {"optimizer"}
    assert not values.sure(source, node, "optimizer")
    assert values.sure(source, node, "optimizer", weak=True)


def test_a_deep_chain_ends():
    text = "x0 = torch.zeros(1)\n" + "".join(f"x{i + 1} = x{i} + x{i}\n" for i in range(300)) + "x300"
    source, node = last(text)
    assert values.kind(source, node) in ({"tensor"}, set())


def test_mutual_recursion_ends():
    source, node = last("def f(x):\n    return g(x)\ndef g(x):\n    return f(x) if c else torch.zeros(1)\nf(2)")
    assert values.kind(source, node) == {"tensor"}
    assert isinstance(node, ast.Call)


def test_two_updates_of_one_name_in_a_loop_end():
    source, node = last("q = torch.ones(3, 4)\nfor _ in range(3):\n    q /= torch.ones(4)\n    q /= 4\nq")
    assert dims.dims(source, node) == 2


def test_containers_of_containers_take_no_time(tmp_path):
    """Each holds the one before it four times, which is four to the fortieth things to look at for who counts them one by one."""
    lines = ["import torch", "def build(flag, x):", "    a0 = {'x': torch.nn.Linear(3, 3), 'y': x}"]
    for i in range(1, 40):
        one = f"a{i - 1}"
        lines += [f"    if flag > {i}:", f"        a{i} = {{'x': {one}, 'y': {one}, 'z': ({one}, {one})}}"]
        lines += ["    else:", f"        a{i} = [{one}, {one}, ({one}, {one})]"]
    lines += [
        "    return a39",
        "net = build(2, 1)",
        "y, z = net",
        "torch.nn.functional.cross_entropy(y['x'], z).backward()",
    ]
    (tmp_path / "chain.py").write_text("\n".join(lines) + "\n")
    command = [sys.executable, "-m", "torchlore", "check", "--no-cache", "chain.py"]
    done = subprocess.run(command, cwd=tmp_path, check=False, timeout=30, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
