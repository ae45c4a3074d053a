"""Show one note: what happens, why it hurts, what to write instead."""

from __future__ import annotations

import argparse

from torchlore.catalogue import UnknownNote, note, notes
from torchlore.check import suppress, syntax
from torchlore.check.codes import slug_of
from torchlore.cli import Failure
from torchlore.handbook import page

ABOUT = {suppress.UNUSED: suppress.ABOUT, syntax.SYNTAX: syntax.ABOUT}  # findings without a note


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The note's name."""
    parser.add_argument("slug", metavar="SLUG", help="the note's name or code, as a finding shows them")
    parser.add_argument("--raw", action="store_true", help="print the page's Markdown as it is")


def run(args: argparse.Namespace) -> int:
    """Render the page in the terminal."""
    slug = slug_of(args.slug, [*ABOUT, *(one.slug for one in notes())])
    try:
        text = f"# {ABOUT[slug]}" if slug in ABOUT else page(note(slug))
    except UnknownNote as unknown:
        raise Failure(str(unknown)) from None
    if args.raw:
        print(text)
        return 0
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    console.print(Markdown(text), width=min(console.width, 100))
    return 0
