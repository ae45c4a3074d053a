"""When something breaks in the middle: one clear line, an exit status that is not 0, and nothing lost."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from torchlore.cli import main
from torchlore.cli.train import new_folder
from torchlore.recipes.checkpoint import load

LORE = (sys.executable, "-m", "torchlore")
PLAIN = f"{Path(__file__).with_name('plain_model.py')}:build"


def test_a_loss_that_is_no_number_stops_the_run_before_it_is_saved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--model", PLAIN, "--optimizer", "sgd", "--lr", "1e30", "--warmup", "0", "--epochs", "2")
    assert main(["train", *words, "--out", str(tmp_path), "--no-watch"]) == 1
    err = capsys.readouterr().err
    assert "lore train: the loss of step " in err
    assert "nothing was saved yet" in err
    assert not list(tmp_path.rglob("*.pt"))


NETS = """
from torch import nn
def bn(c): return nn.Sequential(nn.Flatten(), nn.Linear(64, 8), nn.BatchNorm1d(8), nn.Linear(8, c))
def inputs(c): return nn.Sequential(nn.Flatten(), nn.Linear(7, c))
def outputs(c): return nn.Sequential(nn.Flatten(), nn.Linear(64, c + 1))
def raises(c): raise KeyError("x")
def empty(c): return nn.Flatten()
def fixed(): return nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
class Named(nn.Linear):
    def __init__(self, c): super().__init__(64, c)
    def forward(self, x): return {"logits": super().forward(x.flatten(1))}
"""


@pytest.mark.parametrize(
    ("factory", "says"),
    [
        ("bn", "an epoch ends with a batch of one: choose another --batch-size"),
        ("inputs", "cannot train on a batch of 1x1x8x8: RuntimeError: "),
        ("outputs", "must give a tensor (1, 10), a logit for each class; it gives (1, 11)"),
        ("Named", "it gives dict"),
        ("raises", ": line 6: KeyError: 'x'"),
        ("empty", "has no parameter to train"),
    ],
)
def test_a_model_that_cannot_train_is_one_line_before_the_first_step(
    factory: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "nets.py").write_text(NETS)
    words = ("--model", f"{tmp_path}/nets.py:{factory}", "--batch-size", "37", "--out", str(tmp_path / "runs"))
    assert main(["train", *words]) == 2  # 1222 samples are 33 batches of 37 and one of 1
    err = capsys.readouterr().err
    assert says in err
    assert err.count("\n") == 1
    assert not (tmp_path / "runs").exists()


def test_a_factory_that_asks_for_nothing_is_called_with_nothing(tmp_path: Path) -> None:
    from torchlore.train.models import build
    from torchlore.train.run import Run

    (tmp_path / "nets.py").write_text(NETS)
    assert len(build(Run(model=f"{tmp_path}/nets.py:fixed"), 10, 1).model) == 2


def test_one_step_is_one_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--epochs", "1", "--batch-size", "2000", "--no-watch", "--out", str(tmp_path / "runs"))
    assert main(["train", *words]) == 0
    assert "\n1 step in 1 epoch, into " in capsys.readouterr().out


def test_the_trial_of_a_model_leaves_no_trace() -> None:
    import torch

    from torchlore.train.classify import open_data
    from torchlore.train.run import Run
    from torchlore.train.setup import ready, tried

    made = ready(Run(), open_data(Run()))
    before = [one.clone() for one in made.built.model.state_dict().values()], torch.get_rng_state()
    assert tried(made) is made
    assert all(map(torch.equal, made.built.model.state_dict().values(), before[0]))
    assert torch.equal(torch.get_rng_state(), before[1])
    assert all(one.grad is None for one in made.built.model.parameters())


def test_a_disk_that_fills_up_in_the_middle_of_a_save_is_called_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """/dev/full takes no byte; torch makes a RuntimeError of that and forgets why."""
    import contextlib

    import torch

    from torchlore.recipes import _files

    @contextlib.contextmanager
    def full(_path: object) -> Iterator[BinaryIO]:
        with Path("/dev/full").open("wb", buffering=0) as file:
            yield file

    monkeypatch.setattr(_files, "atomic", full)
    with pytest.raises(OSError, match="No space left on device"):
        _files.save({"w": torch.zeros(9)}, tmp_path / "a.pt")


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main(["train", "--out", str(tmp_path / "file"), "--no-watch"]) == 2
    assert "cannot be written to" in capsys.readouterr().err
    assert main(["train", "--out", "/proc/self", "--no-watch"]) == 2  # root may write into any folder but this
    err = capsys.readouterr().err
    assert "/proc/self cannot be written to" in err
    assert err.count("\n") == 1


def test_a_full_disk_is_one_line_and_the_checkpoint_before_stays(tmp_path: Path) -> None:
    """The run may write files of 1 MB, then of 60 kB: the next checkpoint does not fit."""
    words = ("train", "--model", PLAIN, "--epochs", "400", "--save-every", "3", "--no-watch", "--name", "run")
    started = subprocess.Popen(
        (*LORE, *words, "--out", str(tmp_path)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    checkpoints = tmp_path / "run" / "checkpoints"
    while not list(checkpoints.glob("step-*.pt")):
        assert started.poll() is None
        time.sleep(0.02)
    size = next(iter(checkpoints.glob("step-*.pt"))).stat().st_size
    resource.prlimit(started.pid, resource.RLIMIT_FSIZE, (size // 2, size // 2))
    _, err = started.communicate(timeout=100)
    assert started.returncode == 1
    assert "File too large" in err
    assert "is whole: `lore resume" in err
    assert "Traceback" not in err
    assert not list(tmp_path.rglob("*.part"))
    assert load(checkpoints / "last.pt")["step"] >= 3


def test_a_worker_that_dies_is_named(tmp_path: Path) -> None:
    words = ("train", "--workers", "1", "--epochs", "2000", "--no-watch", "--name", "run", "--out", str(tmp_path))
    started = subprocess.Popen((*LORE, *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "run" / "checkpoints" / "last.pt").exists():
        assert started.poll() is None
        time.sleep(0.02)
    children = Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text().split()
    assert children
    for child in children:
        os.kill(int(child), signal.SIGKILL)
    _, err = started.communicate(timeout=100)
    assert started.returncode == 1
    assert any(f"DataLoader worker (pid {child})" in err for child in children) or "pid(s)" in err, err
    assert "lower --workers" in err
    assert "Traceback" not in err


def _seconds(process: int) -> float:
    """Processor time of a process so far, also of one that has ended and was not waited for."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _terminated(words: tuple[str, ...], last: Path) -> tuple[float, str]:
    """Seconds from SIGTERM, once there is a checkpoint, to the end; and what the run said.

    They are seconds of the processor: tests share the machine, and a busy one stretches the clock's.
    """
    started = subprocess.Popen((*LORE, *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not last.exists():
        assert started.poll() is None
        time.sleep(0.02)
    asked = _seconds(started.pid)
    started.send_signal(signal.SIGTERM)
    assert started.stdout is not None
    out = started.stdout.read()  # until its end
    took = _seconds(started.pid) - asked
    started.communicate(timeout=100)
    assert started.returncode == 75
    return took, out


@pytest.mark.parametrize("workers", ["0", "2"])
def test_sigterm_to_the_end_takes_a_step_and_two_seconds(tmp_path: Path, workers: str) -> None:
    words = ("train", "--model", PLAIN, "--epochs", "9000", "--workers", workers, "--no-watch", "--name", "run")
    run = tmp_path / "run"
    last = run / "checkpoints" / "last.pt"
    took, out = _terminated((*words, "--out", str(tmp_path)), last)
    assert "stopped by SIGTERM after step" in out
    assert f"lore resume {run}" in out
    assert took < 2  # a step takes a millisecond
    assert load(last)["step"] > 0
    assert not list(tmp_path.rglob("*.part"))


def test_resume_goes_on_to_the_report(tmp_path: Path) -> None:
    words = ("train", "--model", PLAIN, "--epochs", "40", "--no-watch", "--name", "run", "--out", str(tmp_path))
    _terminated(words, tmp_path / "run" / "checkpoints" / "last.pt")
    assert main(["resume", str(tmp_path / "run")]) == 0
    assert (tmp_path / "run" / "report.html").is_file()


def test_a_second_ctrl_c_leaves_at_once(tmp_path: Path) -> None:
    words = ("train", "--epochs", "4000", "--batch-size", "1200", "--no-watch", "--name", "run", "--out", str(tmp_path))
    started = subprocess.Popen((*LORE, *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "run" / "checkpoints").exists():
        assert started.poll() is None
        time.sleep(0.02)
    time.sleep(0.5)
    started.send_signal(signal.SIGINT)
    started.send_signal(signal.SIGINT)
    time.sleep(0.02)
    started.send_signal(signal.SIGINT)
    _, err = started.communicate(timeout=60)
    # the step may have ended between the two, or Python may have been on its way out at the third
    assert started.returncode in (75, 130, -signal.SIGINT)
    assert "Traceback" not in err
    assert not list(tmp_path.rglob("*.part"))


def test_torchrun_restarts_into_the_same_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = new_folder(tmp_path, "")
    (first / "config.yaml").write_text("")
    assert new_folder(tmp_path, "") == tmp_path / "002"
    monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", "1")
    assert new_folder(tmp_path, "") == first
    assert new_folder(tmp_path, "other") == tmp_path / "other"


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of one epoch of two that may go on."""
    out = tmp_path_factory.mktemp("stopped")
    words = ("--epochs", "1", "--batch-size", "512", "--no-watch", "--name", "run", "--out", str(out))
    assert main(["train", *words]) == 0
    config = out / "run" / "config.yaml"
    config.write_text(config.read_text().replace("epochs: 1", "epochs: 2"))
    return out / "run"


@pytest.mark.parametrize(
    ("command", "old", "new", "says"),
    [
        (
            "resume",
            "model: small",
            f"model: {PLAIN}",
            "holds the weights of another model: layers.1.weight is not there",
        ),
        ("test", "model: small", f"model: {PLAIN}", "holds the weights of another model: layers.1.weight is not there"),
        (
            "resume",
            "val: 0.15",
            "val: 0.3",
            "--data digits has changed since step-00000003.pt: samples was 1222 and is",
        ),
    ],
    ids=["resume-another-model", "test-another-model", "resume-other-data"],
)
def test_a_checkpoint_of_another_run_is_one_line(
    stopped: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, old: str, new: str, says: str
) -> None:
    run = shutil.copytree(stopped, tmp_path / "run")
    before = sorted((path.name, path.read_bytes()) for path in (run / "checkpoints").iterdir())
    config = run / "config.yaml"
    config.write_text(config.read_text().replace(old, new))
    capsys.readouterr()
    assert main([command, str(run)]) == 2
    err = capsys.readouterr().err
    assert says in err
    assert err.count("\n") == 1
    assert sorted((path.name, path.read_bytes()) for path in (run / "checkpoints").iterdir()) == before


def test_a_run_whose_checkpoints_are_all_damaged_is_one_line(
    stopped: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = shutil.copytree(stopped, tmp_path / "run")
    for path in (run / "checkpoints").iterdir():
        path.write_bytes(path.read_bytes()[:1000])
    assert main(["resume", str(run)]) == 2
    err = capsys.readouterr().err
    assert "no checkpoint in" in err
    assert err.count("\n") == 1
