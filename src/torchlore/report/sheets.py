"""Ranked result sheets: the query on the left, what was found for it in order on the right.

Right and wrong differ in colour (blue and orange, which nearly everybody tells apart), in line (solid and dashed) and
in sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torchlore.report.page import text

STYLE = (
    "<style>.sheet { display: flex; gap: .4rem; align-items: stretch; padding: .5rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; } "
    ".sheet figure { flex: 0 0 5.9rem; width: 5.9rem; padding: .25rem; border: 3px solid var(--b); } .sheet figure.wrong { border: 3px dashed var(--e); } "
    ".sheet figure.asked { border-color: var(--ink); margin-right: .8rem; } .sheet img { width: 100%; display: block; border-radius: .2rem; } "
    ".sheet figcaption { font-size: .72rem; line-height: 1.3; } .sheet b { color: var(--ink); } .sheet .right b::before { content: '✓ '; color: var(--b); } "
    ".sheet .wrong b::before { content: '✗ '; color: var(--e); }</style>"
)


@dataclass(frozen=True)
class Hit:
    """One picture of a sheet."""

    name: str
    identity: str
    camera: str
    note: str  # such as the distance
    picture: str  # a data: address
    right: bool


@dataclass(frozen=True)
class Sheet:
    """A query and what was found for it, the nearest first."""

    query: Hit
    hits: Sequence[Hit]
    precision: float  # average precision


def sheets(found: Sequence[Sheet]) -> str:
    """All sheets one below the other; a wide one scrolls by itself."""
    if not found:
        return ""
    told = (
        '<p class="dim">From the worst query to the best. Left the query, then what was found, nearest first: '
        "✓ in a solid frame is right, ✗ in a dashed frame is wrong.</p>"
    )
    return STYLE + told + "".join(f'<div class="wide"><div class="sheet">{_row(one)}</div></div>' for one in found)


def _row(sheet: Sheet) -> str:
    first = _figure(sheet.query, "asked", f"AP {sheet.precision:.2f}")
    return first + "".join(_figure(one, "right" if one.right else "wrong", one.note) for one in sheet.hits)


def _figure(one: Hit, kind: str, note: str) -> str:
    said = {"asked": "query", "right": "right", "wrong": "wrong"}[kind]
    camera = f"{text(one.camera)}<br>" if one.camera else ""
    return (
        f'<figure class="{kind}" title="{text(one.name)}"><img src="{text(one.picture)}" alt="{said}: {text(one.name)}" loading="lazy">'
        f"<figcaption><b>{text(one.identity)}</b><br>{camera}{text(note)}</figcaption></figure>"
    )
