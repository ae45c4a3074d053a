"""Folders that each have their own `model.py`: a name means what stands beside the file that says it."""

import json

import pytest

from torchlore.check import config, runner
from torchlore.cli.check import all_rules

MODEL = """
from torch import nn

class Judge(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 1, 4), LAST)

    def forward(self, x):
        return self.body(x)

def initialise(net):
    for m in net.modules():
        if isinstance(m, nn.Conv2d):
            nn.init.normal_(m.weight.data, 0.0, 0.02)
"""
TRAIN = """
import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms
from model import Judge, initialise

loader = DataLoader(datasets.ImageFolder("x", transform=transforms.ToTensor()), batch_size=4, shuffle=True)
judge = Judge()
initialise(judge)
judge.train()
optimizer = torch.optim.Adam(judge.parameters(), lr=2e-4)
criterion = nn.LOSS()
for epoch in range(3):
    for real, _ in loader:
        found = judge(real).reshape(-1)
        loss = criterion(found, torch.ones_like(found))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
KINDS = {"odds": ("nn.Sigmoid()", "BCELoss"), "scores": ("nn.Flatten()", "BCEWithLogitsLoss")}


@pytest.fixture
def folders(tmp_path, monkeypatch):
    for name, (last, loss) in KINDS.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.py").write_text(MODEL.replace("LAST", last))
        (tmp_path / name / "train.py").write_text(TRAIN.replace("LOSS", loss))
    monkeypatch.chdir(tmp_path)
    return [f"{name}/{file}.py" for name in KINDS for file in ("model", "train")]


def said(files):
    found = runner.check(files, all_rules(), config.Config()).findings
    return [(one.path, one.slug) for one in found if one.severity != "hint"]


def test_each_folder_has_its_own(folders):
    assert said(folders) == said(folders[::-1]) == []


def test_the_wrong_one_is_told_in_its_folder(folders, tmp_path):
    (tmp_path / "odds" / "model.py").write_text(MODEL.replace("LAST", "nn.Flatten()"))
    assert said(folders) == [("odds/train.py", "bce-on-logits")]


LOSS = """
import torch

class Contrast(torch.nn.Module):
    def __init__(self, margin=1.0):
        super().__init__()
        self.margin = margin

    def forward(self, distance, label):
        return torch.mean((1 - label) * distance**2 + label * torch.clamp(self.margin - distance, min=0) ** 2)
"""
CALLER = """
from contrast import Contrast

def step(net, a, b, label1, label2):
    same_label = (label1 == label2).float()
    return Contrast()((net(a) - net(b)).norm(dim=1), same_label)
"""


def test_what_a_caller_in_another_file_gives_is_read_there(tmp_path, monkeypatch):
    (tmp_path / "contrast.py").write_text(LOSS)
    (tmp_path / "step.py").write_text(CALLER)
    monkeypatch.chdir(tmp_path)
    assert said(["contrast.py", "step.py"]) == [("contrast.py", "loss-args-swapped")]


SUMMED = """
import torch
import torch.nn.functional as F

def bound(out, x, kld):
    return F.mse_loss(out, x, reduction="sum") + kld

def train(net, optimizer, loader):
    total = 0
    for x, _ in loader:
        out, kld = net(x)
        loss = bound(out, x, kld.sum())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader.dataset)
"""


def test_a_notebook_of_the_same_name_takes_no_function_away(tmp_path, monkeypatch):
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": SUMMED}
    book = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "vae.py").write_text(SUMMED)
    (tmp_path / "vae.ipynb").write_text(json.dumps(book))
    monkeypatch.chdir(tmp_path)
    assert said(["vae.py", "vae.ipynb"]) == said(["vae.ipynb", "vae.py"]) == []
