"""What a task says of a split that it tested, for the files, the terminal and the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Tested:
    """Everything that is written after a test; whoever makes it writes nothing."""

    figures: Mapping[str, Any]  # test.json
    rows: Sequence[Mapping[str, Any]]  # test.csv, one mapping a line, all with the same keys
    lines: Sequence[str]  # what `lore test` prints
    headline: str  # the one figure and on how many samples, such as "test accuracy 98.89% on 360 samples"
    tiles: Mapping[str, str]  # the figures in large letters
    sections: str  # HTML, made of `report.page.section`
