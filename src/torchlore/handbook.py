"""A note's page in Markdown. The terminal, the site and the report's links all show this one text."""

from __future__ import annotations

from collections.abc import Iterator

from torchlore.catalogue import Note, recipes_used
from torchlore.check import record
from torchlore.finding import Severity

FOUND_BY = {"find": "`lore check`", "watch": "`lore watch`"}


def page(note: Note, level: int = 1) -> str:
    """The whole page: title, text, both scripts, who finds it, what it covers."""
    return "\n\n".join(_blocks(note, "#" * level)) + "\n"


def _blocks(note: Note, mark: str) -> Iterator[str]:
    yield f"{mark} {note.title.rstrip('.')}"
    yield f"`{note.slug}` in {note.room}"
    yield note.text
    for heading, name in (("The trap", "bad"), ("The way out", "good")):
        if note.script(name).exists():
            yield f"{mark}# {heading}"
            yield f"```python\n{note.script(name).read_text(encoding='utf-8').strip()}\n```"
    yield "\n".join(f"- {line}" for line in facts(note))


def facts(note: Note) -> list[str]:
    """What is known about the note itself, a line each."""
    lines = []
    if finders := [who for part, who in FOUND_BY.items() if note.part(part)]:
        lines.append(
            f"Found by {' and '.join(finders)} ({note.severity}); silence one line with `# lore: ignore[{note.slug}] reason`"
        )
        if note.severity is Severity.ERROR and note.part("find"):
            lines.append(f"`lore check` tells it {record.told(note.slug)}")
    if used := recipes_used(note.script("good")):
        lines.append("Recipes: " + ", ".join(f"`{name}`" for name in used))
    lines.append(f"Seen to hold on torch {note.torch}; run it here with `lore verify {note.slug}`")
    if needs := note.facts("NEEDS"):
        lines.append(f"Needs {', '.join(needs)}")
    lines.append("Read in " + ", ".join(note.facts("SOURCES")))
    return lines
