"""The figures of each epoch for other tools, beside log.jsonl: a CSV table, TensorBoard's event files, a Visdom server."""

from __future__ import annotations

import csv
import json
import math
import os
import sys
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from torchlore.train.run import Refused

Record = dict[str, Any]
Logger = Callable[[Sequence[Record]], None]  # gets every record so far, the new one last

TAGS = {"loss": "train/loss", "lr": "train/lr", "rate": "train/samples_per_second", "memory": "train/memory_mib"}


@contextmanager
def opened(names: str, folder: Path, step: int) -> Iterator[list[Logger]]:
    """The loggers of a comma-separated list; `step` is where a resumed run goes on."""
    with ExitStack() as stack:
        made = {
            "csv": lambda: table(folder / "log.csv"),
            "tensorboard": lambda: _tensorboard(stack, folder, step),
            "visdom": lambda: visdom(visdom_address(), f"Learning curve {folder.resolve().name}"),
        }
        yield [made[name]() for name in names.split(",") if name]


def table(path: Path) -> Logger:
    """Rewrite the whole table at each epoch: what a resumed run takes back is taken back here too."""

    def write(records: Sequence[Record]) -> None:
        names = list(dict.fromkeys(name for record in records for name in record if name != "kind"))
        partial = path.with_suffix(".part")
        with partial.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, names, extrasaction="ignore", lineterminator="\n")
            writer.writeheader()
            writer.writerows(records)
        partial.replace(path)

    return write


def _tensorboard(stack: ExitStack, folder: Path, step: int) -> Logger:
    from tensorboard.compat.proto.event_pb2 import Event, SessionLog
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    writer = EventFileWriter(str(folder / "tensorboard"))
    stack.callback(writer.close)
    if step:  # a viewer forgets what the stopped run wrote after the step that this one goes on from
        writer.add_event(Event(step=step + 1, session_log=SessionLog(status=SessionLog.START)))

    def write(records: Sequence[Record]) -> None:
        record = records[-1]
        values = [
            Summary.Value(tag=tag(name), simple_value=float(value))
            for name, value in record.items()
            if name not in ("kind", "step", "epoch")
        ]
        writer.add_event(Event(step=record["step"], summary=Summary(value=values)))
        writer.flush()

    return write


def tag(name: str) -> str:
    """A figure's name with its split in front, so that a viewer draws the splits' curves side by side.

    >>> tag("val_loss"), tag("loss")
    ('val/loss', 'train/loss')
    """
    return TAGS.get(name, name.replace("_", "/", 1))


def visdom_address() -> str:
    """Where the Visdom server is: VISDOM_URL, or the port it takes by itself."""
    address = os.environ.get("VISDOM_URL", "http://localhost:8097").rstrip("/")
    if not address.startswith(("http://", "https://")):
        raise Refused(f"VISDOM_URL={address} must start with http:// or https://")
    return address


def reachable(names: str) -> None:
    """Refuse a logger whose server does not answer, before anything else is done."""
    if "visdom" not in names.split(","):
        return
    try:
        _post(visdom_address(), "win_exists", {"win": "Loss", "eid": "main"})
    except (OSError, ValueError) as error:
        raise Refused(
            f"--log visdom: no Visdom server answers at {visdom_address()} ({error}); start one with `visdom`, or set VISDOM_URL"
        ) from None


def visdom(address: str, environment: str) -> Logger:
    """Send the windows whole at each epoch: a server that was restarted, and a resumed run, show the right curves.

    A server that goes away is named once and does not stop the run.
    """
    silent = False

    def write(records: Sequence[Record]) -> None:
        nonlocal silent
        try:
            for window in windows(records):
                _post(address, "events", {**window, "eid": environment})
            silent = False
        except OSError as error:
            if not silent:
                print(f"the Visdom server at {address} does not answer ({error}); the run goes on", file=sys.stderr)
            silent = True

    return write


def windows(records: Sequence[Record]) -> list[dict[str, Any]]:
    """The curves over the epochs as Visdom takes them: a window for the loss, each score and the learning rate."""
    epochs = [record for record in records if record["kind"] == "epoch"]
    scores = dict.fromkeys(name for record in epochs for name in record if name.startswith("val_"))
    shown = {"Loss": {"train": "loss", "val": "val_loss"}}
    shown |= {name[4:].replace("_", " ").capitalize(): {"val": name} for name in scores if name != "val_loss"}
    shown |= {"Learning rate": {"lr": "lr"}}
    return [_window(title, curves, epochs) for title, curves in shown.items()]


def _window(title: str, curves: dict[str, str], epochs: Sequence[Record]) -> dict[str, Any]:
    found = {name: [record for record in epochs if figure in record] for name, figure in curves.items()}
    data = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": name,
            "x": [record["epoch"] for record in found[name]],
            "y": [_number(record[figure]) for record in found[name]],
        }
        for name, figure in curves.items()
        if found[name]
    ]
    layout = {"xaxis": {"title": {"text": "Epoch"}}, "yaxis": {"title": {"text": title}}, "showlegend": True}
    return {"win": title, "data": data, "layout": layout, "opts": {"title": title}}


def _number(value: Any) -> float | None:
    return float(value) if math.isfinite(float(value)) else None  # a gap in the curve


def _post(address: str, what: str, message: dict[str, Any]) -> None:
    body = json.dumps(message, allow_nan=False).encode()
    kind = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}/{what}", body, kind)  # noqa: S310 - visdom_address checked the scheme
    plain = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # the server is near: no proxy
    with plain.open(request, timeout=5) as answer:
        answer.read()
