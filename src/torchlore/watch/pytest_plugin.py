"""`pytest --lore-watch` watches every test and tells which traps its code is in; `--lore-watch=error` fails on errors."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from torchlore.finding import Finding, Severity
from torchlore.watch.output import line
from torchlore.watch.session import Sentinel, catalogue_sentinels, watching

FOUND = pytest.StashKey[dict[tuple[str, str, int], Finding]]()
SENTINELS = pytest.StashKey[list[Sentinel]]()


def pytest_addoption(parser: Any) -> None:
    """The flag."""
    group = parser.getgroup("torchlore")
    told = "watch the tests for silent PyTorch traps; with =error, =warning or =hint a test fails on one so grave"
    group.addoption("--lore-watch", nargs="?", const="never", default=None, metavar="LEVEL", help=told, type=_level)


def _level(text: str) -> str:
    """Argparse takes what follows for the level: `--lore-watch tests/` is a mistake that must be told."""
    if text not in (levels := [str(one) for one in Severity]):
        told = f"got {text!r}, expected {', '.join(levels)}; write --lore-watch=error, or --lore-watch after the paths"
        raise argparse.ArgumentTypeError(told)
    return text


def pytest_configure(config: Any) -> None:
    """Nothing is loaded without the flag."""
    config.stash[FOUND] = {}
    if config.getoption("--lore-watch"):
        config.stash[SENTINELS] = catalogue_sentinels()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: Any) -> Iterator[None]:
    """Watch one test; without torch there is nothing to watch."""
    level = item.config.getoption("--lore-watch")
    if level is None or "torch" not in sys.modules:
        return (yield)
    with watching(item.config.stash[SENTINELS]) as findings:
        result = yield
    for one in findings:
        item.config.stash[FOUND].setdefault((one.slug, one.path, one.line), one)
    grave = [one for one in findings if level != "never" and one.severity.rank <= Severity(level).rank]
    if grave:
        pytest.fail("\n".join(line(one) for one in grave), pytrace=False)
    return result


def pytest_terminal_summary(terminalreporter: Any, config: Any) -> None:
    """All findings, each once."""
    found = config.stash[FOUND]
    if found:
        terminalreporter.section("lore watch")
        for one in sorted(found.values(), key=lambda one: (one.severity.rank, one.path, one.line)):
            terminalreporter.line(line(one))
