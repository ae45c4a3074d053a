"""Forty steps in a row, each of which may be left out: what doubles at every step never ends."""

import subprocess
import sys

STEPS = {
    "added": "if s.u{i}:\n    x += F.relu(x) * {i}\n",
    "bound": "if s.u{i}:\n    x = F.relu(x) * {i}\n",
    "joined": "if s.u{i}:\n    x = torch.cat([x, y], 1)\n    y = x + y\n",
    "exchanged": "if s.u{i}:\n    x, y = y, x + y\n",
    "by key": "if s.u{i}:\n    d['k{i}'] = d['k{j}'] + x\n",
    "attributes": "if s.u{i}:\n    self.a{i} = self.a{j} + self.a{j}\n",
    "views": "if s.u{i}:\n    x = x.view(x.size(0), -1).unsqueeze(1)\n",
    "a list": "if s.u{i}:\n    l.append(x)\n    x = l[-1] + x\n",
    "layers": "if s.u{i}:\n    net = nn.Sequential(net, nn.Linear(2, 2))\n    x = net(x)\n",
    "choices": "x = x + 1 if s.u{i} else x * y\n",
    "arrays": "if s.u{i}:\n    x = np.concatenate([x, x])\n",
    "sizes": "n{i} = n{j} + n{j} if s.u{i} else n{j} * 2\n",
    "trainings": "if s.u{i}:\n    opt.zero_grad()\n    loss = F.mse_loss(net(x), y)\n    loss.backward()\n    opt.step()\n",
    "tries": "try:\n    x = net(x)\nexcept ValueError:\n    x = x + y\n",
    "loops": "for q{i} in x:\n    x = x + q{i}\n",
    "a name": "if s.u{i}:\n    name += '_{i}'\n",
    "losses": "if s.u{i}:\n    loss = loss + F.cross_entropy(x, y)\n    total += loss.item()\n",
    "functions": "if s.u{i}:\n    x = g{j}(x) + g{j}(x)\n",
}
HEAD = "import numpy as np\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\ndef g0(x):\n    return x\n"
START = """
class Runner:
    def run(self, net, x, y, s):
        d, l, name, total, loss, n0 = {"k0": x}, [], "a", 0.0, 0.0, x.shape[0]
        self.a0 = x = torch.zeros(2, 2)
        opt = torch.optim.Adam(net.parameters())
"""
END = """
        loss = F.cross_entropy(x, y) + loss
        loss.backward()
        opt.step()
        return {"x": x, "d": d, "l": l, "n": name, "t": total}

Runner().run(nn.Linear(2, 2), torch.randn(2, 2), torch.randn(2, 2), None)["x"].cuda()
"""


def program(step: str) -> str:
    """Forty of these steps between a start and an end that ask what came of them."""
    places = range(1, 41)
    body = "".join(step.format(i=i, j=i - 1) for i in places)
    helpers = "".join(f"def g{i}(x):\n    return g{i - 1}(x) + g{i - 1}(x)\n" for i in places)
    return HEAD + helpers + START + "".join(f"        {line}\n" for line in body.splitlines()) + END


def test_nothing_doubles_at_every_step(tmp_path):
    for name, step in STEPS.items():
        (tmp_path / f"{name.replace(' ', '_')}.py").write_text(program(step))
    command = [sys.executable, "-m", "torchlore", "check", "--no-cache", "-j", "1", "."]
    done = subprocess.run(command, cwd=tmp_path, check=False, timeout=90, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert "internal error" not in done.stderr


def test_thousands_of_classes_each_of_the_last(tmp_path):
    lines = ["import torch", "from torch import nn", "class C0(nn.Module):"]
    lines += ["    def __init__(self):", "        super().__init__()", "        self.parts = [nn.Linear(1, 1)]"]
    for i in range(1, 2501):
        lines += [f"class C{i}(C{i - 1}):", "    def forward(self, x):", "        return self.parts[0](x)"]
    (tmp_path / "classes.py").write_text("\n".join(lines))
    command = [sys.executable, "-m", "torchlore", "check", "--no-cache", "--format", "concise", "."]
    done = subprocess.run(command, cwd=tmp_path, check=False, timeout=15, capture_output=True, text=True)
    assert "internal error" not in done.stderr
    assert "6:9: warning modules-in-plain-container" in done.stdout
