"""List the handbook's notes, search them, or build them into a web page."""

from __future__ import annotations

import argparse
import json
from itertools import groupby
from pathlib import Path

from torchlore.catalogue import Note, notes, search
from torchlore.cli import Failure


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Words to search for, and what to do with what is found."""
    parser.add_argument("words", nargs="*", metavar="WORD", help="show only notes that hold all these words")
    parser.add_argument("--json", action="store_true", help="print one JSON list for machines")
    parser.add_argument("--build", type=Path, metavar="DIR", help="build the handbook as a static site into DIR")


def run(args: argparse.Namespace) -> int:
    """Print the list, a room at a time."""
    if args.build:
        from torchlore.site import build

        print(f"wrote {build(args.build)}")
        return 0
    found = search(" ".join(args.words)) if args.words else list(notes())
    if args.json:
        print(json.dumps([as_data(one) for one in found], indent=1))
        return 0 if found else 1  # as without it
    if not found:
        raise Failure(f"no note holds {' and '.join(args.words)!r}; `lore notes` lists all {len(notes())}", status=1)
    show(found, grouped=not args.words)
    return 0


def as_data(one: Note) -> dict[str, object]:
    """What --json prints of a note."""
    return {"slug": one.slug, "room": one.room, "title": one.title, "trap": one.is_trap, "page": one.text}


def show(found: list[Note], *, grouped: bool) -> None:
    """One line a note; rooms as headings unless the list is ranked by a search."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    groups = groupby(found, key=lambda one: one.room) if grouped else [("", iter(found))]
    for room, members in groups:
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
        table.add_column(no_wrap=True, style="cyan")
        table.add_column()
        for one in members:
            table.add_row(one.slug, escape(one.title))
        if room:
            console.print(f"\n[bold]{room}[/bold]")
        console.print(table)
    traps = sum(one.is_trap for one in found)
    console.print(f"\n{len(found)} notes, {traps} of them traps. `lore explain SLUG` shows one.", style="dim")
