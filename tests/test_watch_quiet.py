"""What looks like a trap while it runs and is none, beside what is: small real programs under every sentinel."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

HEAD = """
import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
"""
TARGET = """
net, other = nn.Linear(4, 2), nn.Linear(4, 2)
FILL
opt = optim.Adam(net.parameters(), 1e-3)
for _ in range(8):
    now, later = torch.randn(32, 4), torch.randn(32, 4)
    value = net(now).max(1)[0]
    wanted = torch.randn(32) + 0.9 * other(later).max(1)[0]
    loss = F.mse_loss(value, wanted)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
MEASURED = """
data = TensorDataset(torch.randn(64, 5), torch.randn(64, 1))
loader = DataLoader(data, batch_size=16, shuffle=True)
NAME = DataLoader(data, batch_size=16)
net = nn.Linear(5, 1)
opt = optim.SGD(net.parameters(), 0.1)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        F.mse_loss(net(x), y).backward()
        opt.step()
    with torch.no_grad():
        print(sum(F.mse_loss(net(x), y).item() for x, y in NAME))
"""
PICKED = """
net = nn.Linear(4, 3)
opt = optim.SGD(net.parameters(), 0.1)
for _ in range(6):
    x, y = torch.randn(16, 2, 4), torch.randint(0, 3, (16, 2))
    scores = LAST(net(x))
    loss = F.nll_loss(scores.view(-1, 3), y.view(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
"""

ATTACKED = """
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
opt = optim.SGD(net.parameters(), 0.1)
for _ in range(4):
    net.train()
    for _ in range(3):
        F.cross_entropy(net(torch.randn(16, 4)), torch.randint(0, 2, (16,))).backward()
        opt.step()
        opt.zero_grad(set_to_none=False)
    net.eval()
    image = torch.randn(1, 4, requires_grad=True)
    net(image)[0, 1].backward()
    for p in net.parameters():
        p.grad.data.zero_()
    ious = torch.tensor([3.0, 0.0]) / torch.tensor([4.0, 0.0])
    print(image.grad.norm().item(), torch.nanmean(ious).item(), ious[~ious.isnan()].mean().item())
"""
SKIPPED = """
import warnings
from torch.utils.checkpoint import checkpoint
warnings.simplefilter("ignore")
stem, head = nn.Sequential(nn.Linear(4, 8), nn.ReLU()), nn.Linear(8, 2)
opt = optim.SGD([*stem.parameters(), *head.parameters()], 0.1)
for _ in range(8):
    opt.zero_grad()
    hidden = checkpoint(stem, torch.randn(16, 4), use_reentrant=True)
    F.cross_entropy(head(hidden), torch.randint(0, 2, (16,))).backward()
    opt.step()
"""


@pytest.mark.parametrize(
    ("program", "slugs"),
    [
        (ATTACKED, []),  # gradients cleared by hand; shares of nothing left out
        (SKIPPED, ["gradient-cut-on-the-way"]),
        (TARGET.replace("FILL", "other.load_state_dict(net.state_dict())"), []),  # a target that was not detached
        (TARGET.replace("FILL", ""), ["module-in-no-optimizer"]),
        (MEASURED.replace("NAME", "measured"), []),  # the training error
        (MEASURED.replace("NAME", "val_loader"), ["training-set-overlaps-validation"]),
        (PICKED.replace("LAST", "nn.LogSoftmax(-1)"), []),
        (PICKED.replace("LAST", "nn.Identity()"), ["nll-on-probabilities"]),
    ],
)
def test_it_speaks_of_the_trap_alone(tmp_path, program, slugs):
    (tmp_path / "train.py").write_text(HEAD + program)
    done = subprocess.run(
        [sys.executable, "-m", "torchlore", "watch", "train.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    assert re.findall(r"^train\.py:\d+: \w+ ([\w-]+):", done.stderr, re.MULTILINE) == slugs
