"""The watch as a library: in real IPython, under Lightning's Trainer and under the Trainer of transformers."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest


def python(code: str, cwd) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HOME": str(cwd), "IPYTHONDIR": str(cwd / "ipython")}
    (cwd / "program.py").write_text(code)
    return subprocess.run(
        [sys.executable, "-W", "ignore", "program.py"],
        cwd=cwd,
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )


CELLS = """
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
for cell in [
    "%load_ext torchlore",
    "import torch\\nfrom torch import nn\\nnet = nn.Linear(4, 2)\\ntotal = 0\\n",
    "%matplotlib_or_any_magic\\nopt = torch.optim.SGD(net.parameters(), lr=0.1)",
    "opt = torch.optim.SGD(net.parameters(), lr=0.1)\\nx, y = torch.randn(8, 4), torch.randint(2, (8,))",
    "for _ in range(6):\\n    loss = nn.functional.cross_entropy(net(x), y)\\n    loss.backward()\\n    opt.step()\\n    total += loss",
    "def broken(:",
    "net2 = nn.Linear(4, 2)\\nopt2 = torch.optim.SGD(net2.parameters(), lr=0.1)\\nstep = getattr(opt2, 'st' + 'ep')",
    "for _ in range(6):\\n    nn.functional.cross_entropy(net2(x), y).backward()\\n    step()",
    "print('the program goes on', opt.step.__qualname__)",
    "%unload_ext torchlore",
    "print('and after', opt.step.__qualname__)",
]:
    shell.run_cell(cell, store_history=True)
"""


def test_every_cell_is_checked_and_watched(tmp_path):
    pytest.importorskip("IPython")
    done = python(CELLS, tmp_path)
    said = re.findall(r"^cell (\d+):(\d+): (\w+) ([\w-]+):", done.stderr, re.MULTILINE)
    assert said == [
        ("5", "4", "warning", "missing-zero-grad"),  # by the source, before the cell runs
        ("5", "5", "error", "accumulate-loss-with-graph"),
        ("8", "3", "error", "missing-zero-grad"),  # by the watch, while it ran
    ]
    assert done.stderr.count("the same .grad grew") == 1  # what the source showed is not told twice
    assert "the program goes on" in done.stdout
    assert "and after" in done.stdout


LIGHTNING = """
import torch
from lightning.pytorch import LightningModule, Trainer
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchlore.watch.lightning import LoreWatch


class Net(LightningModule):
    def __init__(self, softmax):
        super().__init__()
        self.net, self.softmax = nn.Linear(4, 3), softmax

    def training_step(self, batch, index):
        x, y = batch
        scores = self.net(x)
        return nn.functional.cross_entropy(scores.softmax(1) if self.softmax else scores, y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


torch.manual_seed(0)
data = TensorDataset(torch.randn(64, 4), torch.randint(3, (64,)))
for softmax in (True, False):
    watch = LoreWatch()
    options = dict(max_epochs=2, logger=False, enable_checkpointing=False, enable_progress_bar=False, accelerator="cpu")
    trainer = Trainer(**options, enable_model_summary=False, callbacks=[watch])
    trainer.fit(Net(softmax), DataLoader(data, batch_size=8, shuffle=True))
    print(softmax, sorted({one.slug for one in watch.findings}))
"""


def test_lightning(tmp_path):
    pytest.importorskip("lightning")
    done = python(LIGHTNING, tmp_path)
    assert re.search(r"^True .*'softmax-before-cross-entropy'", done.stdout, re.MULTILINE), done.stdout
    assert "False []" in done.stdout


TRANSFORMERS = """
import torch
from torch import nn
from transformers import Trainer, TrainingArguments
from torchlore.watch.huggingface import LoreWatch


class Net(nn.Module):
    def __init__(self, softmax):
        super().__init__()
        self.net, self.softmax = nn.Linear(4, 3), softmax

    def forward(self, x, labels):
        scores = self.net(x)
        return {"loss": nn.functional.cross_entropy(scores.softmax(1) if self.softmax else scores, labels)}


torch.manual_seed(0)
data = [{"x": torch.randn(4), "labels": torch.tensor(i % 3)} for i in range(64)]
for softmax in (True, False):
    watch = LoreWatch()
    args = TrainingArguments("out", max_steps=16, report_to=[], save_strategy="no", use_cpu=True, disable_tqdm=True)
    Trainer(Net(softmax), args, train_dataset=data, callbacks=[watch]).train()
    print(softmax, sorted({one.slug for one in watch.findings}))
"""


def test_the_trainer_of_transformers(tmp_path):
    pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    done = python(TRANSFORMERS, tmp_path)
    assert re.search(r"^True .*'softmax-before-cross-entropy'", done.stdout, re.MULTILINE), done.stdout
    assert "False []" in done.stdout
