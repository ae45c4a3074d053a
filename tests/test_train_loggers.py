"""Loggers: what other tools read is what the run's own log says, also after a stop."""

import csv
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from torchlore.train import fit as fitting
from torchlore.train.journal import read
from torchlore.train.run import Run
from torchlore.train.samples import digits
from torchlore.train.setup import ready

RUN = Run(epochs=3, batch_size=512, watch=False, log="csv,tensorboard")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was stopped in its second epoch and went on."""
    path, data = tmp_path_factory.mktemp("run"), digits(0.15, 0)

    def stop(made: object, stepped: object, since: float) -> None:
        if stepped.step == 3:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.MonkeyPatch.context() as patch:
        ticks = iter(range(1, 10**6))
        patch.setattr(fitting.time, "monotonic", lambda: float(next(ticks)))
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
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
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
