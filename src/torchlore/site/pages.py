"""The site's pages as Markdown text: pure functions from notes to strings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby

from torchlore.catalogue import Erratum, Note
from torchlore.handbook import facts


def chapters(notes: Sequence[Note]) -> dict[str, list[Note]]:
    """Room -> its notes."""
    return {room: list(members) for room, members in groupby(notes, key=lambda note: note.room)}


def index(notes: Sequence[Note]) -> str:
    """The front page."""
    traps = sum(note.is_trap for note in notes)
    rooms = "\n".join(
        f"| [{room.capitalize()}]({room}.md) | {len(members)} | {', '.join(_link(n, f'{room}.md') for n in members[:3])}, … |"
        for room, members in chapters(notes).items()
    )
    return (
        "---\ntitle: torchlore\nhide: [navigation]\n---\n\n# The PyTorch notes everyone keeps, as software\n\n"
        f"{len(notes)} notes, {traps} of them traps that raise nothing. Every claim here is run: `lore verify` runs them "
        "on your torch and your device, `lore check` finds the traps in source, `lore watch` in a running program.\n\n"
        f"| chapter | notes | such as |\n| --- | --- | --- |\n{rooms}\n\n"
        "[What the five source documents got wrong](errata.md) and the [shape calculator](shapes.md) are pages of their own.\n"
    )


def _link(note: Note, page: str) -> str:
    return f"[{note.slug}]({page}#{note.slug})"


def chapter(room: str, notes: Sequence[Note]) -> str:
    """One page: a table of its notes, then each in full under its own anchor."""
    table = "\n".join(f"| [{n.slug}](#{n.slug}) | {_cell(n.title)} |" for n in notes)
    head = f"# {room.capitalize()}\n\n| note | says |\n| --- | --- |\n{table}\n"
    return "\n\n".join([head, *(entry(note) for note in notes)]) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def entry(note: Note) -> str:
    """One note: title with its anchor, text, both scripts side by side in tabs, facts."""
    parts = [f"## {note.title.rstrip('.')} {{ #{note.slug} }}", f"`{note.slug}`", note.text]
    parts += [
        _tab(title, note.script(name).read_text(encoding="utf-8"))
        for title, name in (("The trap", "bad"), ("The way out", "good"))
        if note.script(name).exists()
    ]
    parts.append("\n".join(f"- {line}" for line in facts(note)))
    return "\n\n".join(parts)


def _tab(title: str, code: str) -> str:
    return f'=== "{title}"\n\n' + _indent(f"```python\n{code.strip()}\n```")


def _indent(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.split("\n"))


def errata(notes: Iterable[Note]) -> str:
    """Every defect of the source documents: what was written, what happens when it is run, what to write instead."""
    every = sorted(((erratum, note) for note in notes for erratum in note.errata), key=lambda pair: pair[0].id)
    head = (
        "# Errata of the source documents\n\n"
        f"The five documents this handbook grew from hold {len(every)} defects. Each was run; the line under *what happens* is what it printed.\n"
    )
    return "\n\n".join([head, *(_erratum(erratum, note) for erratum, note in every)]) + "\n"


def _erratum(erratum: Erratum, note: Note) -> str:
    parts = [
        f"## {erratum.id}: {escape(erratum.where)} {{ #{erratum.id} }}",
        f"Note: {_link(note, f'{note.room}.md')}",
        f"**What was written**\n\n```text\n{erratum.written.strip()}\n```",
    ]
    if erratum.proof:
        parts.append(f"**What was run**\n\n```python\n{erratum.proof.strip()}\n```")
    parts.append(f"**What happens**\n\n```text\n{erratum.happens.strip()}\n```")
    return "\n\n".join([*parts, f"**What to write instead**\n\n{erratum.instead.strip()}"])


def calculator(html: str) -> str:
    """The shape calculator: the page is the HTML file, framed by the site."""
    return f"---\ntitle: Shape calculator\nhide: [toc]\n---\n\n# Shape calculator\n\n{html}\n"
