"""Adopting the checker in an old repository: a baseline of what is known, or only the lines that changed."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from torchlore.check.config import BrokenConfig
from torchlore.check.files import write_whole
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
    text = json.dumps(dict(sorted(Counter(named).items())), indent=1) + "\n"
    write_whole(file.resolve(), text.encode())


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


def changed_lines(revision: str, paths: Iterable[Path]) -> dict[str, list[tuple[int, int]]]:
    """Absolute path -> line ranges changed since a revision, in the repositories that these files and folders stand in.

    A file git does not know is changed as a whole.
    """
    if revision.startswith("-"):
        raise BrokenHistory(f"--since takes a git revision, got {revision!r}")
    folders = {path if path.is_dir() else path.parent for path in paths}
    tops = {_git(folder, "rev-parse", "--show-toplevel").strip() for folder in folders if folder.is_dir()}
    changed: dict[str, list[tuple[int, int]]] = {}
    for top in sorted(tops):
        _changed_in(Path(top), revision, changed)
    return changed


def _changed_in(top: Path, revision: str, changed: dict[str, list[tuple[int, int]]]) -> None:
    current: list[tuple[int, int]] = []
    plain = (
        "--no-ext-diff",
        "--no-color",
        "--src-prefix=a/",
        "--dst-prefix=b/",
        "-U0",
    )  # whatever the user's git is set to
    for line in _git(top, "diff", *plain, revision, "--").split("\n"):
        if line.startswith("+++ "):
            current = changed.setdefault(str(top / line[6:].strip('"').split("\t")[0]), [])
        elif match := _HUNK.match(line):
            start, count = int(match[1]), int(match[2] or 1)
            current.append((start, start + max(count, 1) - 1))
    for name in _git(top, "ls-files", "--others", "--exclude-standard", "-z").split("\0"):
        if name:
            changed[str(top / name)] = [(1, 10**9)]


def _git(folder: Path, *words: str) -> str:
    try:
        command = ["git", "-c", "core.quotePath=false", "-C", str(folder), *words]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="surrogateescape", check=True)
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
    ranges = changed.get(str(Path(file).resolve()))
    if ranges is None:
        return False
    return bool(cell) or any(start <= max(found.end_line, found.line) and found.line <= end for start, end in ranges)
