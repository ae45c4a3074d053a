"""Start a new note: `lore note new losses/mse-broadcasts` writes its three files."""

from __future__ import annotations

import argparse
import re

from torchlore.catalogue import NOTES, notes
from torchlore.cli import Failure

NOTE = '''"""One true sentence under 100 characters that says the fact or the trap.

What happens, and why it hurts. Nothing raises; say what goes wrong instead, with a number.

What to write instead: `the line that is right`.
"""

from __future__ import annotations

from collections.abc import Iterator

from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("where you read it: an address, or a document and its lines",)
TORCH = "2.15"
NEEDS = ()
SEVERITY = "warning"


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.the.function"):
        yield source.hit(call, "what happens here: write `this` instead")


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["loss"] > good["loss"]
'''
BAD = """import torch

loss = torch.ones(()).item()  # trap: {slug}

result = {{"loss": loss}}
"""
GOOD = """import torch

loss = torch.zeros(()).item()

result = {"loss": loss}
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to do, and the note's place."""
    parser.add_argument("action", choices=("new",))
    parser.add_argument("place", metavar="ROOM/SLUG", help="for example losses/mse-broadcasts")


def run(args: argparse.Namespace) -> int:
    """Write the skeleton and say what to do next."""
    room, _, slug = args.place.partition("/")
    rooms = sorted({one.room for one in notes()})
    if room not in rooms:
        raise Failure(f"there is no room {room!r}; the rooms are {', '.join(rooms)}")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", slug):
        raise Failure(
            f"{slug!r} is not a slug: lower-case words joined by dashes that name the pattern, such as mse-broadcasts"
        )
    folder = NOTES / room / slug.replace("-", "_")
    if folder.exists():
        raise Failure(f"{folder} exists already; `lore explain {slug}` shows it")
    folder.mkdir()
    for name, text in (("note", NOTE), ("bad", BAD.format(slug=slug)), ("good", GOOD)):
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    print(f"wrote {folder}/note.py, bad.py and good.py")
    print(f"next: make bad.py fall in and good.py not, then `pytest tests/test_notes.py -k {slug}` until it passes")
    return 0
