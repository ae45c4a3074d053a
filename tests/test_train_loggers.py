"""Loggers: what other tools read is what the run's own log says, also after a stop; their servers are real ones."""

import csv
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from torchlore.cli import main
from torchlore.train import fit as fitting
from torchlore.train import loggers
from torchlore.train.journal import read
from torchlore.train.run import Run
from torchlore.train.samples import digits
from torchlore.train.setup import ready

RUN = Run(epochs=3, batch_size=512, watch=False, log="csv,tensorboard,visdom")
# `visdom` itself would first download its page from the internet; `start_server` does not
VISDOM = "import sys; from visdom.server.run_server import start_server; start_server(int(sys.argv[1]), base_url='', env_path=sys.argv[2], bind_local=True)"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _serve(port: int, folder: Path) -> subprocess.Popen[bytes]:
    words = (sys.executable, "-W", "ignore", "-c", VISDOM, str(port), str(folder))
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(300):
        assert server.poll() is None
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return server
        time.sleep(0.1)
    raise AssertionError("the server never listened")


@pytest.fixture(scope="module")
def visdom(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Visdom server."""
    port = free_port()
    server = _serve(port, tmp_path_factory.mktemp("visdom"))
    yield f"http://127.0.0.1:{port}"
    server.terminate()
    server.wait()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, visdom: str) -> Path:
    """A run that was stopped in its second epoch and went on."""
    path, data = tmp_path_factory.mktemp("run"), digits(0.15, 0)

    def stop(made: object, stepped: object, since: float) -> None:
        if stepped.step == 3:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.MonkeyPatch.context() as patch:
        ticks = iter(range(1, 10**6))
        patch.setattr(fitting.time, "monotonic", lambda: float(next(ticks)))
        patch.setenv("VISDOM_URL", visdom)
        assert fitting.fit(ready(RUN, data), path, stop).stopped == "SIGTERM"
        assert not fitting.fit(ready(RUN, data), path).stopped
    return path


def test_the_table_holds_what_the_log_holds(folder: Path) -> None:
    with (folder / "log.csv").open() as file:
        rows = list(csv.DictReader(file))
    wanted = read(folder / "log.jsonl")
    assert [int(row["step"]) for row in rows] == [record["step"] for record in wanted] == [3, 6, 9]
    assert [float(row["val_loss"]) for row in rows] == [record["val_loss"] for record in wanted]


def test_a_tensorboard_server_serves_the_curves(folder: Path) -> None:
    port = free_port()
    words = ("-m", "tensorboard.main", "--logdir", str(folder), "--host", "127.0.0.1", "--port", str(port))
    server = subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}/data/plugin/scalars/scalars?run=tensorboard&tag=val%2Floss"
    try:
        served = _asked(address, server)
    finally:
        server.terminate()
        server.wait()
    wanted = [(record["step"], pytest.approx(record["val_loss"], rel=1e-5)) for record in read(folder / "log.jsonl")]
    assert [(step, value) for _, step, value in served] == wanted


def _asked(address: str, server: subprocess.Popen[bytes]) -> list[tuple[float, int, float]]:
    for _ in range(300):
        assert server.poll() is None
        try:
            with urllib.request.urlopen(address, timeout=5) as answer:
                return json.load(answer)
        except OSError:  # not up yet, or its files not read yet
            time.sleep(0.3)
    raise AssertionError("the server never answered")


def window(address: str, environment: str, name: str) -> dict[str, object]:
    body = json.dumps({"eid": environment, "win": name}).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{address}/win_data", body), timeout=5) as answer:
        return json.load(answer)


def test_a_visdom_server_shows_the_curves(folder: Path, visdom: str) -> None:
    """The notes' windows and curves, without what the stopped part drew twice."""
    wanted = read(folder / "log.jsonl")
    for name, curves in {
        "Loss": {"train": "loss", "val": "val_loss"},
        "Accuracy": {"val": "val_accuracy"},
        "Learning rate": {"lr": "lr"},
    }.items():
        shown = window(visdom, f"Learning curve {folder.name}", name)
        assert shown["type"] == "plot"
        assert shown["title"] == name
        assert shown["content"]["layout"]["xaxis"]["title"]["text"] == "Epoch"
        assert {one["name"]: one["y"] for one in shown["content"]["data"]} == {
            curve: [record[figure] for record in wanted] for curve, figure in curves.items()
        }
        assert [one["x"] for one in shown["content"]["data"]] == [[1, 2, 3]] * len(curves)


def test_a_visdom_server_that_is_not_there_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VISDOM_URL", f"http://127.0.0.1:{free_port()}")
    assert main(["train", "--log", "visdom", "--out", str(tmp_path / "runs")]) == 2
    err = capsys.readouterr().err
    assert "no Visdom server answers at http://127.0.0.1" in err
    assert err.count("\n") == 1
    monkeypatch.setenv("VISDOM_URL", "file:///etc/passwd")
    assert main(["train", "--log", "visdom", "--out", str(tmp_path / "runs")]) == 2
    assert "must start with http" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_a_visdom_server_that_goes_away_is_named_once_and_comes_back_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port = free_port()
    write = loggers.visdom(f"http://127.0.0.1:{port}", "curve")
    records = [{"kind": "epoch", "epoch": at, "step": at, "loss": "nan", "lr": 0.1} for at in (1, 2)]
    write(records[:1])
    write(records[:1])
    assert capsys.readouterr().err.count("does not answer") == 1
    server = _serve(port, tmp_path)
    write(records)
    shown = window(f"http://127.0.0.1:{port}", "curve", "Loss")["content"]["data"]
    server.terminate()
    server.wait()
    assert [(one["x"], one["y"]) for one in shown] == [([1, 2], [None, None])]
