"""What the looks at fresh repositories showed to be no trap because of another file of the project."""

import ast
import json
from pathlib import Path

import pytest

from torchlore.check.project import Project
from torchlore.cli.check import all_rules

WRAPPED = """
import torch
from torch import nn
from weights import bare

def train(net, path):
    net = nn.DataParallel(nn.Linear(2, 2))
    torch.save(net.state_dict(), path)

def test(path):
    net = nn.Linear(2, 2)
    net.load_state_dict(bare(path))
"""
HEIR = """
import torch
from torch.optim import lr_scheduler
from weights import Trainer

class Gan(Trainer):
    def prepare(self):
        self.optimizer = torch.optim.Adam(self.net.parameters())
        self.schedule = lr_scheduler.ExponentialLR(self.optimizer, 0.99)

    def turn(self, x):
        self.optimizer.zero_grad()
        self.net(x).mean().backward()
        self.optimizer.step()
"""
DECODER = """
import torch
from torch import nn

class Decoder(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.position = nn.Parameter(torch.empty(n, m))

    def forward(self, x):
        return x + self.position
"""
SAVER = """
import torch
from torch import nn

class Trainer:
    def __init__(self):
        self.net = nn.Linear(2, 2)

    def save(self, path):
        torch.save(self.net, path)
"""
LAYERS = """
import torch
from torch import nn

class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(2, 2)

    def _reset_parameters(self):
        nn.init.xavier_uniform_(self.body.weight)

    def forward(self, x):
        return self.body(x)

def build():
    return Layers()
"""
STEPS = """
import torch
from torch import nn
from weights import Trainer

net = nn.Linear(2, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
draws = Trainer()
for step in range(100):
    loader = draws.fit("rows")
    x, y = next(iter(loader))
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
"""
ROWS = """
from torch.utils.data import Dataset

class Rows(Dataset):
    def __init__(self, path):
        self.file = open(path)

    def __getitem__(self, index):
        return self.file.readline()
"""


@pytest.mark.parametrize(
    ("slug", "text", "other", "expected"),
    [
        ("save-whole-module", SAVER, "torch.load(path, weights_only=False).to('cpu')", ["hint"]),
        ("save-whole-module", SAVER, "torch.load(path, weights_only=False)['epoch']", [None]),
        ("initialiser-reaches-nothing", LAYERS, "main.build()._reset_parameters()", []),
        ("initialiser-reaches-nothing", LAYERS, "main.build()(path)", [None]),
        ("handle-opened-before-fork", ROWS, "torch.utils.data.DataLoader(path, batch_size=4)", []),
        ("handle-opened-before-fork", ROWS, "torch.utils.data.DataLoader(path, num_workers=4)", [None]),
        ("data-parallel-prefix", WRAPPED, "{name[7:]: part for name, part in torch.load(path).items()}", []),
        ("data-parallel-prefix", WRAPPED, "torch.load(path, map_location='cpu')", [None]),
        ("scheduler-never-stepped", HEIR, "self.schedule.step()", []),
        ("scheduler-never-stepped", HEIR, "print(self)", [None]),
        ("parameter-never-initialised", DECODER, "main.Decoder(2, 2).load_state_dict(path)", ["hint"]),
        ("parameter-never-initialised", DECODER, "main.Decoder(2, 2)(path).sum().backward()", [None]),
    ],
)
def test_another_file_says_what_this_one_means(
    tmp_path: Path, slug: str, text: str, other: str, expected: list[str | None]
) -> None:
    (tmp_path / "main.py").write_text(text)
    helper = f"import torch\nimport main\n\ndef bare(path):\n    return {other}\n"
    helper += f"\nclass Trainer:\n    def fit(self, path):\n        {other}\n"
    (tmp_path / "weights.py").write_text(helper)
    project = Project()
    project.begin(str(tmp_path / "main.py"))
    project.add([str(tmp_path / "main.py"), str(tmp_path / "weights.py")])
    source = project.source(str(tmp_path / "main.py"))
    rule = next(one for one in all_rules().values() if one.slug == slug)
    assert source is not None
    assert [hit.severity for hit in rule.find(source)] == expected


@pytest.mark.parametrize(
    ("slug", "text", "other", "expected"),
    [
        ("parameter-never-initialised", DECODER, "if hasattr(m, 'position'):\n    nn.init.normal_(m.position)", []),
        ("parameter-never-initialised", DECODER, "if hasattr(m, 'weight'):\n    nn.init.normal_(m.weight)", [None]),
        ("iter-rebuilt-in-loop", STEPS, "return DataLoader(path, sampler=RandomSampler(path))", ["hint"]),
        ("iter-rebuilt-in-loop", STEPS, "return DataLoader(path, batch_size=4)", [None]),
    ],
)
def test_a_file_that_does_not_know_this_one_says_what_it_means(
    tmp_path: Path, slug: str, text: str, other: str, expected: list[str | None]
) -> None:
    (tmp_path / "main.py").write_text(text)
    body = other.replace("\n", "\n        ")
    helper = f"import torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader, RandomSampler\n\nclass Trainer:\n    def fit(self, path, m=None):\n        {body}\n"
    (tmp_path / "weights.py").write_text(helper)
    project = Project()
    project.begin(str(tmp_path / "main.py"))
    project.add([str(tmp_path / "main.py"), str(tmp_path / "weights.py")])
    source = project.source(str(tmp_path / "main.py"))
    rule = next(one for one in all_rules().values() if one.slug == slug)
    assert source is not None
    assert [hit.severity for hit in rule.find(source)] == expected


@pytest.mark.parametrize("checked_first", ["a", "b"])
def test_of_two_modules_of_one_name_the_nearer_one_is_meant(tmp_path: Path, checked_first: str) -> None:
    for folder, layer in (("a", "nn.Dropout(0.5)"), ("b", "nn.ReLU()")):
        (tmp_path / folder).mkdir()
        net = (
            f"from torch import nn\n\nclass Net(nn.Sequential):\n    def __init__(self):\n        self.end = {layer}\n"
        )
        (tmp_path / folder / "model.py").write_text(net)
        (tmp_path / folder / "train.py").write_text("from model import Net\n\nnet = Net()\n")
        (tmp_path / folder / "all.py").write_text("from model import *\n\nnet = Net()\n")
    (tmp_path / "c.py").write_text("from model import Net\n\nnet = Net()\n")
    project = Project()
    order = sorted(tmp_path.rglob("*.py"), key=lambda path: path.parent.name != checked_first)
    project.add(map(str, order))
    for path in order:
        project.begin(str(path))
        source = project.source(str(path))
        assert source is not None
        project.adopt(source)
    for folder in ("a", "b"):
        found = project.find("model.Net", str(tmp_path / folder / "train.py"))
        assert found is not None
        assert found.source.path == str(tmp_path / folder / "model.py")
        starred = project.source(str(tmp_path / folder / "all.py"))
        assert starred is not None
        assert [one.name for one in starred.values(next(iter(starred.all(ast.Call))))] == ["model.Net"]
    assert project.find("model.Net", str(tmp_path / "c.py")) is None


@pytest.mark.parametrize(("cell", "expected"), [("net.apply(init_weights)", 0), ("net.train()", 1)])
def test_a_notebook_may_call_what_no_file_calls(tmp_path: Path, cell: str, expected: int) -> None:
    text = "from torch import nn\n\ndef init_weights(m):\n    if isinstance(m, nn.Linear):\n        nn.init.xavier_uniform_(m.weight)\n"
    text += "\ndef train(net, x, optimizer):\n    net(x).mean().backward()\n    optimizer.step()\n"
    (tmp_path / "nets.py").write_text(text)
    (tmp_path / "run.ipynb").write_text(json.dumps({"cells": [{"cell_type": "code", "source": [cell]}]}))
    project = Project()
    project.begin(str(tmp_path / "nets.py"))
    project.add([str(tmp_path / "nets.py"), str(tmp_path / "run.ipynb")])
    source = project.source(str(tmp_path / "nets.py"))
    rule = next(one for one in all_rules().values() if one.slug == "initialiser-reaches-nothing")
    assert source is not None
    assert len(list(rule.find(source))) == expected
