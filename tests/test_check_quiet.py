"""What the looks at fresh repositories showed to be no trap, where a note's cases cannot say it: a whole file, or a severity."""

import pytest

from torchlore.check import engine
from torchlore.cli.check import all_rules

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


@pytest.fixture(scope="module")
def rules():
    return all_rules()


def said(rules, slug, text):
    """The severities of what one rule says."""
    return [found.severity.value for found in engine.check_text(text, {slug: rules[slug]})]


@pytest.mark.parametrize(
    ("slug", "text", "expected"),
    [
        ("handle-opened-before-fork", HDF5.replace("WORKERS", "0"), []),
        ("handle-opened-before-fork", HDF5.replace("WORKERS", "4"), ["warning"]),
        ("discarded-tensor-op", LESSON, []),
        ("discarded-tensor-op", LESSON.replace("x.dim()\nx.view(-1, 4)\n", ""), ["error", "error"]),
        ("train-loader-not-shuffled", SIAMESE.replace("USE", "evaluate(pairs, model)"), []),
        ("train-loader-not-shuffled", SIAMESE.replace("USE", "fit(pairs, model)"), ["warning"]),
        ("unsafe-torch-load", UNSAFE.replace("PATH", "path_of_mine"), ["hint"]),
        ("unsafe-torch-load", UNSAFE.replace("PATH", "hf_hub_download('a/b', 'c.pt')"), ["warning"]),
        ("save-whole-module", SAVED, ["warning"]),
        ("save-whole-module", SAVED + 'torch.save(model.state_dict(), "weights.pt")\n', ["hint"]),
        ("accumulate-loss-with-graph", METER, []),
        ("accumulate-loss-with-graph", METER.replace("Mean()", "[]"), ["error"]),
    ],
)
def test_it_depends_on_the_rest_of_the_file(rules, slug, text, expected):
    assert said(rules, slug, text) == expected
