"""Files that hold Python among other things: a notebook's cells as one program, the Python blocks of a Markdown page."""

from __future__ import annotations

import ast
import json
import re
import textwrap
import warnings
from json.decoder import scanstring  # type: ignore[attr-defined]  # in every Python since 3.0, not in the stubs
from typing import NamedTuple, cast

from torchlore.check.pattern import regex
from torchlore.check.syntax import reason

_MAGIC = regex(r"^(\s*)(?:[%!?]|.*\?\??\s*$)(?!=)")
_ASSIGNED_MAGIC = regex(r"^(\s*[\w, ]+=\s*)[%!].*$")
_AUTOMAGIC = regex(
    r"^\s*(?:pip3?|conda|mamba) +(?:install|uninstall|list|show)\b(?!\s*=)|"
    r"^(?:ls|ll|cd|cat|cp|mv|rm|mkdir|rmdir|less|more|man) +[-\w./~*\"'{$][^=(]*$|"
    r"^(?:timeit|time|prun) +(?!(?:is|in|if|and|or|not|for)\b)[\w\"'].*$"
)
_RUNS_PYTHON = ("%%time", "%%timeit", "%%capture", "%%prun", "%%memit", "%%snakeviz")
_FENCE = regex(
    r"^(?P<indent>[ ]{0,12})(?P<fence>```+|~~~+)[ ]*\{?\.?(?:python|py|python3|pycon)\b[^\n]*$", re.IGNORECASE
)
_SPACE = regex(r"[ \t\r\n]*")
_ATOM = regex(r"[^,\]}\s]+")


class BrokenDocument(ValueError):
    """The file is not what its name says; the message says where."""


class Cell(NamedTuple):
    """One code cell of a notebook."""

    number: int  # as people count: every cell, from 1
    source: str  # as it stands in the notebook
    start: int  # the span of its JSON value in the file
    end: int


class Line(NamedTuple):
    """Where a line of the program stands in the notebook."""

    cell: int  # index into `cells`
    number: int  # 1-based line in the cell
    same: bool  # False where a magic was replaced


class Notebook(NamedTuple):
    """A notebook as one Python program."""

    raw: str
    cells: tuple[Cell, ...]
    program: str
    lines: tuple[Line, ...]
    broken: tuple[tuple[int, int, str], ...]  # cells that do not parse: number, line, why


def notebook(raw: str) -> Notebook:
    """The code cells of a notebook as one program; BrokenDocument where the file is no notebook."""
    cells = _cells(raw)
    texts: list[list[str]] = []
    broken: list[tuple[int, int, str]] = []
    lines: list[Line] = []
    for index, cell in enumerate(cells):
        original = cell.source.split("\n")
        plain = without_magics(original)
        trouble = _syntax("\n".join(plain))
        if trouble:
            broken.append((cell.number, *trouble))
            plain = ["" for _ in original]
        texts.append(plain)
        lines += [Line(index, n, a == b) for n, (a, b) in enumerate(zip(original, plain, strict=True), 1)]
    program = "\n".join("\n".join(text) for text in texts)
    return Notebook(raw, cells, program, tuple(lines), tuple(broken))


def shown_lines(book: Notebook) -> frozenset[int]:
    """The lines of the program that end a cell: an expression there is shown, not thrown away."""
    last: dict[int, int] = {}
    for number, (line, text) in enumerate(zip(book.lines, book.program.split("\n"), strict=False), 1):
        if text.strip() and not text.lstrip().startswith("#"):
            last[line.cell] = number
    return frozenset(last.values())


def _syntax(text: str) -> tuple[int, str] | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        return error.lineno or 1, reason(error)
    except (ValueError, RecursionError, MemoryError) as error:
        return 1, str(error)
    return None


def without_magics(lines: list[str]) -> list[str]:
    """The lines of a cell with IPython's own syntax replaced, line for line."""
    first = next((line for line in lines if line.strip()), "")
    if first.startswith("%%") and not first.startswith(_RUNS_PYTHON):
        return ["" for _ in lines]
    indent = first[: len(first) - len(first.lstrip())]  # IPython takes the first line's indent off all lines
    lines = [line.removeprefix(indent) for line in lines]
    if _syntax("\n".join(lines)) is None:
        return lines  # Python as it stands: a line that begins with % goes on with the one before
    found = []
    inside = ""  # in a triple-quoted string nothing is magic
    goes_on = False  # a shell line that ends in a backslash
    for line in lines:
        if goes_on:
            found.append("")
            goes_on = line.rstrip().endswith("\\")
            continue
        if not inside and (re.match(r"\s*%[ (\[{]", line) or (found and found[-1].endswith("\\"))):
            found.append(line)  # an operator, or Python that goes on
            continue
        shell = line.lstrip()[:1] in ("%", "!") or bool(_AUTOMAGIC.match(line)) or bool(_ASSIGNED_MAGIC.match(line))
        goes_on = not inside and shell and line.rstrip().endswith("\\")
        if not inside and _AUTOMAGIC.match(line):
            found.append("pass")
        elif not inside and (assigned := _ASSIGNED_MAGIC.match(line)):
            found.append(f"{assigned[1]}None")
        elif not inside and line.lstrip()[:1] in ("%", "!", "?") and (magic := _MAGIC.match(line)):
            found.append(f"{magic[1]}pass")
        elif not inside and re.match(r"^\s*[\w.*]+\?\??\s*$", line):
            found.append(line[: len(line) - len(line.lstrip())] + "pass")
        else:
            found.append(line)
            for quote in ('"""', "'''"):
                if line.count(quote) % 2 and inside in ("", quote):
                    inside = "" if inside else quote
    return found


def with_sources(book: Notebook, sources: dict[int, str]) -> str:
    """The notebook's file with new sources for some cells; every other byte is kept."""
    raw = book.raw
    for index in sorted(sources, reverse=True):
        cell = book.cells[index]
        raw = raw[: cell.start] + _written(raw[cell.start : cell.end], sources[index]) + raw[cell.end :]
    return raw


def _written(old: str, source: str) -> str:
    ascii_only = old.isascii()
    if old.startswith('"'):
        return json.dumps(source, ensure_ascii=ascii_only)
    lines = source.splitlines(keepends=True)
    first = re.match(r"\[(\s*)", old)
    last = re.search(r"(\s*)\]$", old)
    between = first[1] if first else ""
    body = f",{between or ' '}".join(json.dumps(line, ensure_ascii=ascii_only) for line in lines)
    return f"[{between}{body}{last[1] if last else ''}]"


def _cells(raw: str) -> tuple[Cell, ...]:
    try:
        book = json.loads(raw)
    except json.JSONDecodeError as error:
        raise BrokenDocument(f"is not a notebook: line {error.lineno}: {error.msg}") from error
    if not isinstance(book, dict) or not isinstance(book.get("cells"), list):
        raise BrokenDocument("is not a notebook: it has no list of cells (version 4 is read)")
    spans = _source_spans(raw)
    found: list[Cell] = []
    for number, cell in enumerate(book["cells"], 1):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code" or number - 1 not in spans:
            continue
        source = cell.get("source", "")
        text = "".join(map(str, source)) if isinstance(source, list) else str(source)
        found.append(Cell(number, text, *spans[number - 1]))
    return tuple(found)


def _source_spans(raw: str) -> dict[int, tuple[int, int]]:
    """Where the `source` value of each cell stands in a file that is known to be valid JSON."""
    spans: dict[int, tuple[int, int]] = {}
    _value(raw, _space(raw, 0), (), spans)
    return spans


def _space(raw: str, position: int) -> int:
    return cast("re.Match[str]", _SPACE.match(raw, position)).end()


def _value(raw: str, position: int, path: tuple[str | int, ...], spans: dict[int, tuple[int, int]]) -> int:
    start, character = position, raw[position]
    if character == '"':
        position = scanstring(raw, position + 1, False)[1]
    elif character in "{[":
        position = _space(raw, position + 1)
        index = 0
        while raw[position] not in "}]":
            key: str | int = index
            if character == "{":
                key, position = scanstring(raw, position + 1, False)
                position = _space(raw, _space(raw, position) + 1)  # over the colon
            deeper = len(path) < 3 or path[0] == "cells"
            position = _space(raw, _value(raw, position, (*path, key) if deeper else path, spans))
            if raw[position] == ",":
                position = _space(raw, position + 1)
            index += 1
        position += 1
    else:
        position = cast("re.Match[str]", _ATOM.match(raw, position)).end()
    if len(path) == 3 and path[0] == "cells" and path[2] == "source" and isinstance(path[1], int):
        spans[path[1]] = (start, position)
    return position


class Block(NamedTuple):
    """One Python block of a Markdown page."""

    text: str
    line: int  # the page's line before the block's first
    indent: int
    start: int  # the span of the block's lines in the page
    end: int


USUAL = {
    "torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional", "optim": "torch.optim", "np": "numpy",
    "torchvision": "torchvision", "transforms": "torchvision.transforms", "DataLoader": "torch.utils.data.DataLoader",
}  # fmt: skip


def blocks(page: str) -> list[Block]:
    """The fenced Python blocks of a Markdown page; those with prompts (`>>>`) are left out."""
    found: list[Block] = []
    lines = page.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    number = 0
    while number < len(lines):
        opening = _FENCE.match(lines[number])
        number += 1
        if not opening:
            continue
        first = number
        while number < len(lines) and not lines[number].strip().startswith(opening["fence"]):
            number += 1
        body = "\n".join(lines[first:number])
        if not body.lstrip().startswith(">>>"):
            indent = len(opening["indent"])
            found.append(Block(textwrap.dedent(body) if indent else body, first, indent, starts[first], starts[number]))
        number += 1
    return found
