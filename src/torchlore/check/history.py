"""Adopting the checker in an old repository: a baseline of what is known, or only the lines that changed."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from torchlore.check.config import BrokenConfig
from torchlore.check.pattern import regex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from torchlore.finding import Finding

_HUNK = regex(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")


class BrokenHistory(BrokenConfig):
    """A baseline or a revision that cannot be used; the message says why."""


def keys(findings: Iterable[Finding], lines: Callable[[str], Sequence[str]], root: Path) -> list[str]:
    """What stays the same about each finding when other lines move: file, slug, and the text of its line."""
    found = []
    for one in findings:
        text = lines(one.path)
        line = text[one.line - 1].strip() if 0 < one.line <= len(text) else ""
        path = Path(one.path).absolute()
        shown = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()
        found.append(f"{shown}|{one.slug}|{line}")
    return found


def write_baseline(file: Path, named: Iterable[str]) -> None:
    """Remember these findings as known."""
    file.write_text(json.dumps(dict(sorted(Counter(named).items())), indent=1) + "\n", encoding="utf-8")


def new_since_baseline(file: Path, findings: Sequence[Finding], named: Sequence[str]) -> list[Finding]:
    """The findings a baseline does not know."""
    try:
        known = Counter({str(key): int(count) for key, count in json.loads(file.read_text(encoding="utf-8")).items()})
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise BrokenHistory(f"{file} is not a baseline: {error}") from error
    new = []
    for found, key in zip(findings, named, strict=True):
        if known[key] > 0:
            known[key] -= 1
        else:
            new.append(found)
    return new


def changed_lines(revision: str, folder: Path) -> dict[str, list[tuple[int, int]]]:
    """Absolute path -> changed line ranges since a revision; a file git does not know is changed as a whole."""
    if revision.startswith("-"):
        raise BrokenHistory(f"--since takes a git revision, got {revision!r}")
    top = Path(_git(folder, "rev-parse", "--show-toplevel").strip())
    changed: dict[str, list[tuple[int, int]]] = {}
    current: list[tuple[int, int]] = []
    for line in _git(top, "diff", "--no-ext-diff", "--no-color", "-U0", revision, "--").splitlines():
        if line.startswith("+++ "):
            current = changed.setdefault(str(top / line[6:].strip('"').split("\t")[0]), [])
        elif match := _HUNK.match(line):
            start, count = int(match[1]), int(match[2] or 1)
            current.append((start, start + max(count, 1) - 1))
    for name in _git(top, "ls-files", "--others", "--exclude-standard", "-z").split("\0"):
        if name:
            changed[str(top / name)] = [(1, 10**9)]
    return changed


def _git(folder: Path, *words: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=True)
    except FileNotFoundError as error:
        raise BrokenHistory("--since needs git, which is not installed") from error
    except subprocess.CalledProcessError as error:
        raise BrokenHistory(
            f"git {words[0]}: {error.stderr.strip().splitlines()[0] if error.stderr else 'failed'}"
        ) from error
    return done.stdout


def touched(found: Finding, changed: dict[str, list[tuple[int, int]]]) -> bool:
    """Whether a finding stands on a changed line (a notebook: in a changed file)."""
    file, cell, _ = found.path.partition(":cell ")
    ranges = changed.get(str(Path(file).absolute()))
    if ranges is None:
        return False
    return bool(cell) or any(start <= max(found.end_line, found.line) and found.line <= end for start, end in ranges)
