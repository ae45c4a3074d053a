"""Where torchlore keeps what can be made again: findings, scans of folders, bytecode."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import cache_from_source
from pathlib import Path


def folder() -> Path:
    """`TORCHLORE_CACHE`, else a folder of ours in the user's cache folder."""
    chosen = os.environ.get("TORCHLORE_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "torchlore"


@contextmanager
def bytecode() -> Iterator[None]:
    """What is imported meanwhile is compiled once for all runs, also where Python leaves no bytecode beside its sources.

    Containers set PYTHONDONTWRITEBYTECODE; to compile the rules anew costs half a second a run.
    """
    if not sys.dont_write_bytecode or Path(cache_from_source(__file__)).exists():
        yield
        return
    before = sys.pycache_prefix
    sys.dont_write_bytecode, sys.pycache_prefix = False, str(folder() / "bytecode")
    try:
        yield
    finally:
        sys.dont_write_bytecode, sys.pycache_prefix = True, before
