"""What a detector says. Every room speaks in these nouns, whether it read a source, a run, a checkpoint or a machine."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How sure and how bad: it is wrong, it is wrong unless you know better, it is slow or fragile."""

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"

    @property
    def rank(self) -> int:
        """0 for the gravest, so that sorting puts errors first."""
        return list(Severity).index(self)


@dataclass(frozen=True)
class Edit:
    """Replace the characters [start, end) of a source text."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Finding:
    """One trap, seen in one place."""

    slug: str  # the identity: the note's name, the suppression word and the page's address
    message: str  # one sentence with the user's own names: what happens, then what to write
    severity: Severity = Severity.WARNING
    path: str = ""  # the user's file, a checkpoint; empty for the machine itself
    line: int = 0  # 1-based; 0 where a line makes no sense
    column: int = 0  # 1-based, in characters
    end_line: int = 0
    end_column: int = 0
    edits: tuple[Edit, ...] = ()
    safe: bool = True  # whether the edits keep what the code means; unsafe ones need a flag
    step: int | None = None  # the optimizer step at which a running program showed it
    count: int = 1  # how often it was seen there
    evidence: str = ""  # the numbers that convinced the detector

    @property
    def where(self) -> str:
        """`train.py:12:5`, as far as it is known."""
        return ":".join(str(part) for part in (self.path, self.line, self.column) if part)
