"""Hooks that pile up while a program runs, and an actor beside its critic: each beside what looks like it."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

HEAD = "import torch\nfrom torch import nn, optim\nfrom torch.nn import functional as F\n\ntorch.manual_seed(0)\n"
COSTLY = """
actor, critic = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1)), nn.Linear(4, 1)
first, second = optim.SGD(actor.parameters(), 0.01), optim.SGD(critic.parameters(), 0.01)
for _ in range(8):
    state = torch.randn(16, 3)
    NAME = state.sum(1, keepdim=True)
    second.zero_grad()
    F.mse_loss(critic(torch.cat([state, torch.randn(16, 1)], 1)), NAME).backward()
    second.step()
    first.zero_grad()
    expected = critic(torch.cat([state, actor(state)], 1)).mean()
    expected.backward()
    first.step()
"""
HOOKED = """
def attach(layer):
    return layer.register_forward_hook(lambda mod, args, out: None)


net = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 1))
opt = optim.SGD(net.parameters(), 0.01)
ONCE
for epoch in range(6):
    EACH
    for _ in range(20):
        opt.zero_grad()
        net(torch.randn(8, 4)).pow(2).mean().backward()
        opt.step()
    LAST
"""


def hooked(once="pass", each="pass", last="pass"):
    return HOOKED.replace("ONCE", once).replace("EACH", each).replace("LAST", last)


@pytest.mark.parametrize(
    ("program", "slugs"),
    [
        (hooked(each="[attach(one) for one in net]"), ["hook-hoards-activations"]),
        (hooked(each="for p in net.parameters(): p.register_hook(lambda g: g)"), ["hook-hoards-activations"]),
        (hooked(once="attach(net[0])"), []),
        (hooked(each="held = [attach(one) for one in net]", last="[one.remove() for one in held]"), []),
        (COSTLY.replace("NAME", "reward"), ["actor-lowers-its-critic"]),
        (COSTLY.replace("NAME", "cost"), []),  # what is fitted is a cost, which an actor lowers
    ],
)
def test_the_run_alone_shows_it(tmp_path, program, slugs):
    (tmp_path / "train.py").write_text(HEAD + program)
    done = subprocess.run(
        [sys.executable, "-m", "torchlore", "watch", "--no-source", "train.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert "switched off" not in done.stderr
    assert re.findall(r"^train\.py:\d+: \w+ ([\w-]+):", done.stderr, re.MULTILINE) == slugs
