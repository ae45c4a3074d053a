"""Two processes under torchrun: the same numbers as one, every sample counted once, and a signal to one stops both."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from whole_checkpoint import differences

from torchlore.cli import main
from torchlore.recipes.checkpoint import load
from torchlore.train.journal import read

PLAIN = f"{Path(__file__).with_name('plain_model.py')}:build"
WORDS = ("--model", PLAIN, "--epochs", "3", "--batch-size", "97", "--val", "0.149", "--no-watch", "--name", "run")


def torchrun(*words: str, restarts: int = 0) -> list[str]:
    elastic = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "--max-restarts", str(restarts))
    return [sys.executable, *elastic, "-m", "torchlore", *words]


def test_two_processes_give_what_one_gives(tmp_path: Path) -> None:
    """Sizes that two does not divide: a batch of 97, a ragged last one, 359 test samples."""
    assert main(["train", *WORDS, "--out", str(tmp_path / "one")]) == 0
    command = torchrun("train", *WORDS, "--out", str(tmp_path / "two"))
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("test accuracy") == 1
    one, two = (tmp_path / name / "run" for name in ("one", "two"))
    weights = [load(run / "checkpoints" / "last.pt")["model"] for run in (one, two)]
    assert all(torch.allclose(weights[0][name], weights[1][name], atol=1e-5) for name in weights[0])
    for a, b in zip(read(one / "log.jsonl"), read(two / "log.jsonl"), strict=True):
        assert a["loss"] == pytest.approx(b["loss"], rel=1e-4)
        assert a["val_loss"] == pytest.approx(b["val_loss"], rel=1e-4)
        assert a["val_accuracy"] == b["val_accuracy"]
    tested = [json.loads((run / "test.json").read_text()) for run in (one, two)]
    assert tested[0]["samples"] == tested[1]["samples"] == 359 == sum(map(sum, tested[1]["confusion"]))
    assert tested[0]["confusion"] == tested[1]["confusion"]


def test_no_process_tests_before_the_best_weights_are_written(tmp_path: Path) -> None:
    assert main(["train", *WORDS, "--out", str(tmp_path / "one")]) == 0
    slow = [word.replace(":build", ":late") for word in WORDS]
    command = torchrun("train", *slow, "--out", str(tmp_path / "two"))
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    tested = [json.loads((tmp_path / name / "run" / "test.json").read_text()) for name in ("one", "two")]
    assert tested[0]["confusion"] == tested[1]["confusion"]


def test_sharded_processes_give_what_one_gives_and_write_whole_checkpoints(tmp_path: Path) -> None:
    words = (*WORDS, "--clip", "1", "--batch-size", "96", "--accumulate", "2")
    assert main(["train", *words, "--out", str(tmp_path / "one")]) == 0
    command = torchrun("train", *words, "--shard", "--out", str(tmp_path / "two"))
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    one, two = (load(tmp_path / name / "run" / "checkpoints" / "last.pt") for name in ("one", "two"))
    assert all(type(value) is torch.Tensor for value in two["model"].values())
    assert all(torch.allclose(one["model"][name], two["model"][name], atol=1e-5) for name in one["model"])
    for key, buffers in one["optimizer"]["state"].items():
        assert all(torch.allclose(buffers[name], two["optimizer"]["state"][key][name], atol=1e-5) for name in buffers)
    tested = [json.loads((tmp_path / name / "run" / "test.json").read_text()) for name in ("one", "two")]
    assert tested[0]["confusion"] == tested[1]["confusion"]
    assert main(["test", str(tmp_path / "two" / "run")]) == 0  # one process opens what two have split
    assert json.loads((tmp_path / "two" / "run" / "test.json").read_text())["confusion"] == tested[0]["confusion"]


def test_sharding_needs_several_processes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "--shard", "--out", str(tmp_path / "runs")]) == 2
    assert "there is one: `torchrun" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def stopped_and_resumed(tmp_path: Path, *words: str) -> tuple[dict[str, object], dict[str, object]]:
    """The last checkpoints of a run of two processes that nobody disturbed, and of one that was stopped."""
    options = ("--epochs", "14", "--batch-size", "97", "--no-watch", "--name", "run", *words)
    quiet = {"capture_output": True, "text": True, "timeout": 400}
    whole = subprocess.run(torchrun("train", *options, "--out", str(tmp_path / "whole")), check=False, **quiet)
    assert whole.returncode == 0, whole.stderr
    run = tmp_path / "stopped" / "run"
    command = torchrun("train", *options, "--out", str(tmp_path / "stopped"))
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while not (run / "checkpoints" / "last.pt").exists():
        assert started.poll() is None, started.communicate()[0]
        time.sleep(0.02)
    os.kill(workers_of(started.pid)[0], signal.SIGTERM)
    out, _ = started.communicate(timeout=200)
    assert "everything is saved" in out
    assert load(run / "checkpoints" / "last.pt")["step"] < 14 * 13
    done = subprocess.run(torchrun("resume", str(run)), check=False, **quiet)
    assert done.returncode == 0, done.stderr
    return load(tmp_path / "whole" / "run" / "checkpoints" / "last.pt"), load(run / "checkpoints" / "last.pt")


@pytest.mark.long
@pytest.mark.parametrize("words", [("--shard", "--clip", "1"), ("--ema", "0.9")], ids=["sharded", "copied"])
def test_two_processes_that_were_stopped_end_with_the_same_bits(tmp_path: Path, words: tuple[str, ...]) -> None:
    assert differences(*stopped_and_resumed(tmp_path, *words)) == []


@pytest.mark.long
def test_torchrun_restarts_what_was_killed_and_it_ends_with_the_same_bits(tmp_path: Path) -> None:
    """One of two processes is killed once; torchrun starts both again, and they go on by themselves."""
    options = ("train", "--epochs", "14", "--batch-size", "97", "--save-every", "5", "--no-watch")
    whole = subprocess.run(
        torchrun(*options, "--out", str(tmp_path / "whole")), capture_output=True, text=True, timeout=400, check=False
    )
    assert whole.returncode == 0, whole.stderr
    command = torchrun(*options, "--out", str(tmp_path / "killed"), restarts=1)
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    last = tmp_path / "killed" / "001" / "checkpoints" / "last.pt"
    while not last.exists():
        assert started.poll() is None, started.communicate()[0]
        time.sleep(0.02)
    os.kill(workers_of(started.pid)[1], signal.SIGKILL)
    out, _ = started.communicate(timeout=400)
    assert started.returncode == 0, out
    assert out.count("182 steps in 14 epochs") == 2  # it was begun twice
    assert [path.name for path in (tmp_path / "killed").iterdir()] == ["001"]
    one, two = (load(tmp_path / name / "001" / "checkpoints" / "last.pt") for name in ("whole", "killed"))
    assert differences(one, two) == []
    assert not list(tmp_path.rglob("*.part"))


def workers_of(launcher: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()]


def test_a_signal_to_one_process_stops_both_and_resume_goes_on(tmp_path: Path) -> None:
    words = ("train", "--model", PLAIN, "--epochs", "900", "--no-watch", "--name", "run", "--out", str(tmp_path))
    started = subprocess.Popen(torchrun(*words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    last = tmp_path / "run" / "checkpoints" / "last.pt"
    while not last.exists():
        assert started.poll() is None
        time.sleep(0.05)
    os.kill(workers_of(started.pid)[1], signal.SIGTERM)
    out, _ = started.communicate(timeout=100)
    assert started.returncode != 0
    assert "everything is saved" in out
    step = load(last)["step"]
    assert 0 < step < 900 * 20
    config = tmp_path / "run" / "config.yaml"
    config.write_text(config.read_text().replace("epochs: 900", f"epochs: {step // 20 + 1}"))
    assert main(["resume", str(tmp_path / "run")]) == 0  # one process goes on with what two began
    assert load(last)["step"] == (step // 20 + 1) * 20
