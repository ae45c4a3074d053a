"""The run's diary: one JSON object a line, appended as it happens, cut back when a run is resumed earlier."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torchlore.train.loggers import Logger


class Journal:
    """`log.jsonl` of a run. A half-written last line, which a kill can leave, is dropped on opening."""

    def __init__(self, path: Path, step: int = 0, *, writes: bool = True, loggers: Sequence[Logger] = ()) -> None:
        self.path, self.writes, self.loggers = path, writes, loggers  # of several processes one writes
        self.records = [record for record in read(path) if record["step"] <= step]
        if not writes:
            return
        text = "".join(json.dumps(record) + "\n" for record in self.records)
        partial = path.with_suffix(".part")
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)

    def write(self, kind: str, step: int, **values: Any) -> None:
        """Append one record; numbers that are not finite become text, so that every line is JSON."""
        record = {"kind": kind, "step": step, **{name: _finite(value) for name, value in values.items()}}
        self.records.append(record)
        if not self.writes:
            return
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record, allow_nan=False) + "\n")
        for log in self.loggers:
            log(self.records)

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The records of one kind, in order."""
        return [record for record in self.records if record["kind"] == kind]


def _finite(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def read(path: Path) -> list[dict[str, Any]]:
    """Every whole record of a journal."""
    if not path.exists():
        return []
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            break  # the line a kill cut short, and nothing after it
    return found
