"""How many parsed files a process may keep: to parse one again costs more than to keep it, until memory runs out."""

from __future__ import annotations

import os
import re
from pathlib import Path

LEAST = 8_000_000  # characters of parsed files that are always kept, about 450 MB
_EACH = 60  # bytes a character of source takes, parsed
_SHARE = 4  # of what is free, a fourth
_LIMITS = ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes")  # of a container


def characters(jobs: int, root: Path = Path("/")) -> int:
    """Characters of parsed files that each of some processes may keep."""
    return max(LEAST, _free(root) // _SHARE // _EACH // max(jobs, 1))


def _free(root: Path) -> int:
    """Bytes of memory that are free, as far as the system tells."""
    told = re.search(r"^MemAvailable:\s+(\d+) kB", _read(root / "proc/meminfo"), re.MULTILINE)
    free = int(told[1]) * 1024 if told else _installed() // 2
    limits = [int(text) for name in _LIMITS if (text := _read(root / name).strip()).isdigit()]
    return min(free, *limits) if limits else free


def _installed() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # Windows has no sysconf
        return 0


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
