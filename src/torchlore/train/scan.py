"""Decode every file once before training; what was seen is remembered outside the data folder."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from torchlore import keep
from torchlore.recipes.data import find_broken

SOME = 1000  # files between two lines of progress
ENDS = 4096  # bytes at each end of a file that tell most files apart


def cache_file(root: Path, kind: str = "scan") -> Path:
    """Where the scan of a folder is remembered: never inside the folder."""
    return keep.folder() / f"{kind}-{hashlib.sha256(str(root.resolve()).encode()).hexdigest()[:20]}.json"


def broken(root: Path, names: list[str]) -> dict[str, str]:
    """Name -> reason of each file that gives no picture; files that did not change since the last scan are not read."""

    def look(fresh: list[str]) -> dict[str, Any]:
        found = {
            one.path: one.reason.removeprefix(f"{one.path} ").removeprefix("is ")
            for some in _shown(fresh)
            for one in find_broken([root / n for n in some])
        }
        return {name: found.get(root / name, "") for name in fresh}

    return {name: why for name, why in remembered(root, names, "scan", look).items() if why}


def _shown(names: list[str]) -> Iterator[list[str]]:
    """The files some at a time; a large set says how far it is, a terminal as it goes."""
    large, live = len(names) > 2 * SOME, sys.stderr.isatty()
    if large:
        print(f"looking at {len(names):,} pictures for the first time", file=sys.stderr)
    for first in range(0, len(names), SOME):
        yield names[first : first + SOME]
        if large and live:
            print(f"\r\x1b[2K{min(first + SOME, len(names)):,} of {len(names):,}", end="", file=sys.stderr, flush=True)
    if large and live:
        print("\r\x1b[2K", end="", file=sys.stderr, flush=True)


def remembered(root: Path, names: list[str], kind: str, look: Callable[[list[str]], dict[str, Any]]) -> dict[str, Any]:
    """What `look` says of each file, as JSON; it is asked only about those that changed since the last time."""
    path = cache_file(root, kind)
    known = _remembered(path)
    stamps = {name: _stamp(root / name) for name in names}
    fresh = [name for name in names if known.get(name, ["", ""])[0] != stamps[name]]
    known |= {name: [stamps[name], said] for name, said in look(fresh).items()}
    if fresh:
        _remember(path, {name: known[name] for name in names})
    return {name: known[name][1] for name in names}


def twins(root: Path, names: list[str]) -> dict[str, str]:
    """Name -> a mark that files with the same bytes share, of those that are not alone with it.

    Only files of the same size are opened, and read in whole only where their ends are the same too.
    """
    sizes = {name: (root / name).stat().st_size for name in names}
    alike = Counter(sizes[name] for name in names)
    several = list(dict.fromkeys(name for name in names if alike[sizes[name]] > 1))
    ends = remembered(root, several, "ends", lambda fresh: {name: _hashed(root / name, ENDS) for name in fresh})
    marks = Counter(ends[name] for name in names if name in ends)
    same = {name: _hashed(root / name) for name in several if marks[ends[name]] > 1}
    count = Counter(same[name] for name in names if name in same)
    return {name: mark for name, mark in same.items() if count[mark] > 1}


def _hashed(path: Path, ends: int = 0) -> str:
    """The hash of a file's size and bytes, or of so many at its beginning and its end."""
    size = path.stat().st_size
    with path.open("rb") as file:
        body = file.read(ends or -1)
        if 0 < ends < size:
            file.seek(max(ends, size - ends))
            body += file.read()
    return hashlib.blake2b(body, digest_size=16, salt=str(size).encode()[-16:]).hexdigest()


def _stamp(path: Path) -> str:
    try:
        stat = path.stat()
    except OSError:  # a link to nothing: whoever reads it says so
        return "none"
    return f"{stat.st_size}-{stat.st_mtime_ns}"


def _remembered(path: Path) -> dict[str, list[Any]]:
    try:
        found: dict[str, list[Any]] = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return {}
    return found


def _remember(path: Path, known: dict[str, list[Any]]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}.part")
        partial.write_text(json.dumps(known), encoding="utf-8")
        partial.replace(path)
    except OSError:  # a home that cannot be written to only costs the next scan its memory
        print(f"the scan cannot be remembered: {path.parent} cannot be written to", file=sys.stderr)
