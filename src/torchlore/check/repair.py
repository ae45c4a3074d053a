"""Writes fixes back into files: Python as it is, notebooks cell by cell, everything else untouched."""

from __future__ import annotations

import difflib
from bisect import bisect_right
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from torchlore.check import documents, fixes
from torchlore.check.files import Unreadable, decode, encoding_of, read_bytes, write_whole
from torchlore.check.project import Project
from torchlore.check.runner import Work, check_text, shown
from torchlore.finding import Edit, Finding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torchlore.check.config import Config
    from torchlore.check.engine import Rule


class Repaired(NamedTuple):
    """How many findings were fixed in how many files, the change as a unified diff, and what could not be read."""

    fixed: int
    files: int
    diff: str
    trouble: list[Unreadable]


def repair(files: Sequence[str], rules: Mapping[str, Rule], config: Config, *, unsafe: bool, write: bool) -> Repaired:
    """Fix these files; with `write=False` only say what would change."""
    count = changed = 0
    diffs: list[str] = []
    trouble: list[Unreadable] = []
    for path in files:
        data = read_bytes(path)
        if isinstance(data, Unreadable):
            trouble.append(data)
            continue
        if b"torch" not in data or path.endswith(".md"):
            continue
        if isinstance(text := decode(path, data), Unreadable):
            trouble.append(text)
            continue
        fixed, applied = repair_bytes(path, data, rules, config, unsafe=unsafe)
        if fixed == data:
            continue
        count, changed = count + applied, changed + 1
        diffs.append(changes(path, data, fixed))
        if write:
            write_whole(Path(path).resolve(), fixed)
    return Repaired(count, changed, "".join(diffs), trouble)


def repair_bytes(
    path: str, data: bytes, rules: Mapping[str, Rule], config: Config, *, unsafe: bool
) -> tuple[bytes, int]:
    """The fixed content of one file, and how many findings were fixed."""
    text = decode(path, data)
    if isinstance(text, Unreadable):
        return data, 0
    encoding = encoding_of(data)
    if path.endswith(".ipynb"):
        fixed, count = _notebook(path, text, rules, config, unsafe=unsafe)
    else:
        fixed, count = fixes.fix(text, lambda one: _findings(path, one, rules, config), unsafe=unsafe)
    return (fixed.encode(encoding), count) if fixed != text else (data, 0)


def _findings(
    path: str, text: str, rules: Mapping[str, Rule], config: Config, shown_lines: frozenset[int] = frozenset()
) -> list[Finding]:
    said = check_text(path, text, Work(rules, config, Project(torch=config.torch)), shown_lines)
    return [one for one in said if isinstance(one, Finding) and shown(one, config)]


def _notebook(path: str, raw: str, rules: Mapping[str, Rule], config: Config, *, unsafe: bool) -> tuple[str, int]:
    """One pass over a notebook after the other, each cell's source rewritten in place."""
    count = 0
    try:
        book = documents.notebook(raw)
        for _ in range(10):
            found = _findings(path, book.program, rules, config, documents.shown_lines(book))
            wanted = [one for one in found if fixes.fixable(one, unsafe=unsafe) and _in_python(one, book)]
            chosen, applied = fixes.chosen(book.program, wanted)
            if not applied:
                break
            sources = _changed(book, chosen)
            count += applied
            book = documents.notebook(documents.with_sources(book, sources))
    except documents.BrokenDocument:
        return raw, 0
    return book.raw, count


def _in_python(found: Finding, book: documents.Notebook) -> bool:
    """Whether every edit stays inside a cell and on lines that are not magics."""
    for edit in found.edits:
        first, last = book.program.count("\n", 0, edit.start), book.program.count("\n", 0, edit.end)
        lines = book.lines[first : last + 1]
        if not all(line.same and line.cell == lines[0].cell for line in lines):
            return False
    return True


def _changed(book: documents.Notebook, chosen: list[Edit]) -> dict[int, str]:
    """New sources of the cells these edits stand in; lines that are not magics are the same in cell and program."""
    program = [0]
    for line in book.program.split("\n"):
        program.append(program[-1] + len(line) + 1)
    own = [[0] for _ in book.cells]
    for starts, cell in zip(own, book.cells, strict=True):
        for line in cell.source.split("\n"):
            starts.append(starts[-1] + len(line) + 1)
    inside: dict[int, list[Edit]] = {}
    for edit in chosen:
        first = bisect_right(program, edit.start) - 1
        place = book.lines[min(first, len(book.lines) - 1)]
        shift = own[place.cell][place.number - 1] - program[first]
        last = bisect_right(program, edit.end) - 1
        end_shift = own[place.cell][place.number - 1 + last - first] - program[last]
        inside.setdefault(place.cell, []).append(Edit(edit.start + shift, edit.end + end_shift, edit.text))
    return {index: fixes.splice(book.cells[index].source, edits) for index, edits in inside.items()}


def changes(path: str, old: bytes, new: bytes) -> str:
    """What changed, as a unified diff."""
    before = old.decode(errors="replace").splitlines(keepends=True)
    after = new.decode(errors="replace").splitlines(keepends=True)
    return "".join(difflib.unified_diff(before, after, path, path))
