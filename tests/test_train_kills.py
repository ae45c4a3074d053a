"""kill -9 at any moment, also while a checkpoint is being written: the run ends with the same bits, and nothing is left."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from whole_checkpoint import differences

from torchlore.recipes.checkpoint import load

LORE = (sys.executable, "-m", "torchlore")
KILLS = 20
MODEL = """
from torch import nn
def build(classes):  # large enough that writing it takes a while
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 4096), nn.ReLU(), nn.Dropout(0.3), nn.Linear(4096, classes))
"""
pytestmark = pytest.mark.long


def killed_while_writing(started: subprocess.Popen[bytes], folder: Path, rng: random.Random) -> bool:
    """Wait for the beginning of a write, a moment more, and kill; whether the write was cut off."""
    while started.poll() is None:
        if next(folder.glob(".*.part"), None) is not None:
            time.sleep(rng.uniform(0, 0.004))
            break
    started.kill()
    started.wait()
    return next(folder.glob(".*.part"), None) is not None


@pytest.mark.parametrize("workers", ["0", "2"])
def test_twenty_kills_in_a_row_lose_nothing(tmp_path: Path, workers: str) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    words = ("--model", f"{tmp_path}/model.py:build", "--epochs", "20", "--batch-size", "256", "--ema", "0.9")
    options = (*words, "--workers", workers, "--save-every", "1", "--no-watch", "--name", "run")
    subprocess.run((*LORE, "train", *options, "--out", str(tmp_path / "whole")), check=True, capture_output=True)
    run, rng, cut = tmp_path / "killed" / "run", random.Random(7), 0
    checkpoints, said = run / "checkpoints", (tmp_path / "said.txt").open("w+b")
    for kill in range(KILLS):
        begun = (run / "config.yaml").exists()
        command = ("resume", str(run)) if begun else ("train", *options, "--out", str(tmp_path / "killed"))
        last = checkpoints / "last.pt"
        before = last.stat().st_mtime_ns if last.exists() else 0
        started = subprocess.Popen((*LORE, *command), stdout=said, stderr=said)
        if kill % 4 == 0:  # before the first step, or wherever it is by then
            time.sleep(rng.uniform(0.5, 5))
            started.kill()
            started.wait()
            continue
        while started.poll() is None and (not last.exists() or last.stat().st_mtime_ns == before):
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 0.05))
        assert started.poll() is None, (tmp_path / "said.txt").read_text()
        cut += killed_while_writing(started, checkpoints, rng)
    assert cut >= 5, f"only {cut} kills fell into a write"
    done = subprocess.run((*LORE, "resume", str(run)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (
        differences(load(tmp_path / "whole" / "run" / "checkpoints" / "last.pt"), load(checkpoints / "last.pt")) == []
    )
    assert (run / "report.html").is_file()
    assert not list(tmp_path.rglob("*.part"))
    assert sorted(path.name for path in run.iterdir()) == sorted(
        path.name for path in (tmp_path / "whole" / "run").iterdir()
    )
