"""Applies the edits of findings: whole hits at a time, in passes, and only where the result still parses."""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from torchlore.finding import Edit, Finding

_PASSES = 10


def fixable(finding: Finding, *, unsafe: bool) -> bool:
    """Whether the edits of a finding may be applied."""
    return bool(finding.edits) and (finding.safe or unsafe)


def fix(text: str, check: Callable[[str], Iterable[Finding]], *, unsafe: bool = False) -> tuple[str, int]:
    """The text with every fix applied until nothing changes, and how many findings were fixed."""
    count = 0
    seen = {text}
    for _ in range(_PASSES):
        wanted = [found for found in check(text) if fixable(found, unsafe=unsafe)]
        fixed, applied = apply(text, wanted)
        if not applied or fixed in seen:  # two fixes that undo each other would never settle
            return text, count
        text, count = fixed, count + applied
        seen.add(text)
    return text, count


def apply(text: str, findings: Sequence[Finding]) -> tuple[str, int]:
    """One pass: the text with the edits that go together, and how many findings were fixed."""
    taken, applied = chosen(text, findings)
    return splice(text, taken), applied


def chosen(text: str, findings: Sequence[Finding]) -> tuple[list[Edit], int]:
    """The edits of one pass: hits in order of place, each whole or not at all; overlaps wait for the next pass."""
    taken: list[Edit] = []
    applied = 0
    comments = _comments(text) if "#" in text else []
    for found in sorted(findings, key=lambda one: (min(edit.start for edit in one.edits), one.slug)):
        edits = [edit for edit in found.edits if edit not in taken or edit.start != edit.end]
        if any(_clash(edit, other) for edit in edits for other in taken) or _loses_comment(edits, comments, text):
            continue
        trial = splice(text, [*taken, *edits])
        if parses(trial):
            taken += edits
            applied += 1
    return taken, applied


def splice(text: str, edits: Iterable[Edit]) -> str:
    """The text with these edits, which do not overlap."""
    position, parts = 0, []
    for edit in sorted(edits, key=lambda one: (one.start, one.end)):
        parts += [text[position : edit.start], edit.text]
        position = edit.end
    return "".join([*parts, text[position:]])


def parses(text: str) -> bool:
    """Whether the running Python can parse the text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _clash(one: Edit, other: Edit) -> bool:
    if one.start == one.end and other.start == other.end:
        return one.start == other.start and one.text != other.text and not one.text.startswith(("\n", "\r"))
    return one.start < other.end and other.start < one.end


def _loses_comment(edits: Sequence[Edit], comments: list[tuple[int, int]], text: str) -> bool:
    """Whether the edits would take a comment out that none of their texts keeps."""
    written = "".join(edit.text for edit in edits)
    gone = (
        text[start:end].rstrip() for edit in edits for start, end in comments if edit.start <= start and end <= edit.end
    )
    return any(comment not in written for comment in gone)


def _comments(text: str) -> list[tuple[int, int]]:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found: list[tuple[int, int]] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                start = starts[token.start[0] - 1] + token.start[1]
                found.append((start, start + len(token.string)))
    except (tokenize.TokenError, SyntaxError):
        return []
    return found
