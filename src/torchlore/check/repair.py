"""Writes fixes back into files: Python as it is, notebooks cell by cell, everything else untouched."""

from __future__ import annotations

import difflib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from torchlore.check import documents, fixes
from torchlore.check.files import Unreadable, decode, encoding_of, read_bytes
from torchlore.check.project import Project
from torchlore.check.runner import Work, check_text, shown
from torchlore.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torchlore.check.config import Config
    from torchlore.check.engine import Rule


class Repaired(NamedTuple):
    """How many findings were fixed in how many files, and the change as a unified diff."""

    fixed: int
    files: int
    diff: str


def repair(files: Sequence[str], rules: Mapping[str, Rule], config: Config, *, unsafe: bool, write: bool) -> Repaired:
    """Fix these files; with `write=False` only say what would change."""
    count = changed = 0
    diffs: list[str] = []
    for path in files:
        data = read_bytes(path)
        if isinstance(data, Unreadable) or b"torch" not in data or path.endswith(".md"):
            continue
        fixed, applied = repair_bytes(path, data, rules, config, unsafe=unsafe)
        if fixed == data:
            continue
        count, changed = count + applied, changed + 1
        diffs.append(_diff(path, data, fixed))
        if write:
            Path(path).write_bytes(fixed)
    return Repaired(count, changed, "".join(diffs))


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


def _findings(path: str, text: str, rules: Mapping[str, Rule], config: Config) -> list[Finding]:
    said = check_text(path, text, Work(rules, config, Project()))
    return [one for one in said if isinstance(one, Finding) and shown(one, config)]


def _notebook(path: str, raw: str, rules: Mapping[str, Rule], config: Config, *, unsafe: bool) -> tuple[str, int]:
    """One pass over a notebook after the other, each cell's source rewritten in place."""
    count = 0
    try:
        book = documents.notebook(raw)
        for _ in range(10):
            found = _findings(path, book.program, rules, config)
            wanted = [one for one in found if fixes.fixable(one, unsafe=unsafe) and _in_python(one, book)]
            fixed, applied = fixes.apply(book.program, wanted)
            if not applied:
                break
            sources = _changed(book, wanted, fixed)
            if not sources:
                break
            count += applied
            book = documents.notebook(documents.with_sources(book, sources))
    except documents.BrokenDocument:
        return raw, 0
    return book.raw, count


def _in_python(found: Finding, book: documents.Notebook) -> bool:
    """Whether every edit stays inside one cell and on lines that are not magics."""
    cells: set[int] = set()
    for edit in found.edits:
        first, last = book.program.count("\n", 0, edit.start), book.program.count("\n", 0, edit.end)
        lines = book.lines[first : last + 1]
        if not all(line.same for line in lines):
            return False
        cells.update(line.cell for line in lines)
    return len(cells) >= 1


def _changed(book: documents.Notebook, wanted: list[Finding], fixed: str) -> dict[int, str]:
    """New sources of the cells that changed: the edits that were applied, cell by cell."""
    starts, position = [], 0
    for index in range(len(book.cells)):
        own = [line for line in book.lines if line.cell == index]
        starts.append(position)
        position += sum(len(book.program.split("\n")[book.lines.index(line)]) + 1 for line in own)
    sources: dict[int, str] = {}
    for index, cell in enumerate(book.cells):
        start = starts[index]
        stop = starts[index + 1] if index + 1 < len(starts) else len(book.program) + 1
        edits = tuple(
            replace(edit, start=edit.start - start, end=edit.end - start)
            for one in wanted
            for edit in one.edits
            if start <= edit.start < stop
        )
        if edits and cell.source == book.program[start : stop - 1] and fixed:
            text = fixes.splice(cell.source, dict.fromkeys(edits))
            if fixes.parses(text):
                sources[index] = text
    return sources


def _diff(path: str, old: bytes, new: bytes) -> str:
    before = old.decode(errors="replace").splitlines(keepends=True)
    after = new.decode(errors="replace").splitlines(keepends=True)
    return "".join(difflib.unified_diff(before, after, path, path))
