"""Decode every picture once before training; what was seen is remembered outside the data folder."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path

from torchlore.recipes.data import find_broken


def cache_file(root: Path) -> Path:
    """Where the scan of a folder is remembered: never inside the folder."""
    home = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return home / "torchlore" / f"scan-{hashlib.sha256(str(root.resolve()).encode()).hexdigest()[:20]}.json"


def broken(root: Path, names: list[str]) -> dict[str, str]:
    """Name -> reason of each file that gives no picture; files that did not change since the last scan are not read."""
    known = _remembered(cache_file(root))
    stamps = {name: _stamp(root / name) for name in names}
    fresh = [name for name in names if known.get(name, ["", ""])[0] != stamps[name]]
    if len(fresh) > 2000:
        print(f"looking at {len(fresh)} pictures for the first time", file=sys.stderr)
    found = {str(one.path.relative_to(root)): one.reason for one in find_broken([root / name for name in fresh])}
    known |= {name: [stamps[name], found.get(name, "")] for name in fresh}
    if fresh:
        _remember(cache_file(root), {name: known[name] for name in names})
    return {name: known[name][1] for name in names if known[name][1]}


def _stamp(path: Path) -> str:
    stat = path.stat()
    return f"{stat.st_size}-{stat.st_mtime_ns}"


def _remembered(path: Path) -> dict[str, list[str]]:
    try:
        found: dict[str, list[str]] = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return {}
    return found


def _remember(path: Path, known: dict[str, list[str]]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}.part")
        partial.write_text(json.dumps(known), encoding="utf-8")
        partial.replace(path)
    except OSError:  # a home that cannot be written to only costs the next scan its memory
        print(f"the scan cannot be remembered: {path.parent} cannot be written to", file=sys.stderr)
