"""The figures of each epoch for other tools, beside the run's own log.jsonl: a CSV table, TensorBoard's event files."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

Record = dict[str, Any]
Logger = Callable[[Sequence[Record]], None]  # gets every record so far, the new one last

TAGS = {"loss": "train/loss", "lr": "train/lr", "rate": "train/samples_per_second", "memory": "train/memory_mib"}


@contextmanager
def opened(names: str, folder: Path, step: int) -> Iterator[list[Logger]]:
    """The loggers of a comma-separated list; `step` is where a resumed run goes on."""
    with ExitStack() as stack:
        made = {"csv": lambda: table(folder / "log.csv"), "tensorboard": lambda: _tensorboard(stack, folder, step)}
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
