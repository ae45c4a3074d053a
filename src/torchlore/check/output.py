"""Findings as text: for people, for editors, for continuous integration. Pure functions from data to a string."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from torchlore.check.codes import code
from torchlore.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from torchlore.finding import Finding

Lines = "Callable[[str], Sequence[str]]"  # path (with its cell) -> the lines of that text
_COLOURS = {"error": "31;1", "warning": "33;1", "hint": "36", "dim": "2", "bold": "1"}
_GITHUB = {"error": "error", "warning": "warning", "hint": "notice"}
_GITLAB = {"error": "major", "warning": "minor", "hint": "info"}
_SARIF = {"error": "error", "warning": "warning", "hint": "note"}


def file_and_cell(path: str) -> tuple[str, str]:
    """`nb.ipynb:cell 7` as file and cell; the cell is "" for a plain file."""
    file, found, cell = path.partition(".ipynb:cell ")
    return (f"{file}.ipynb", cell) if found else (path, "")


def concise(findings: Iterable[Finding]) -> str:
    """One line a finding: `path:line:column: severity slug [code] message`."""
    return "\n".join(f"{one.where}: {one.severity} {one.slug} [{code(one.slug)}] {one.message}" for one in findings)


def full(findings: Sequence[Finding], lines: Callable[[str], Sequence[str]], *, colour: bool = False) -> str:
    """The line, a caret under the place, and the sentence; for people."""

    def paint(name: str, text: str) -> str:
        return f"\033[{_COLOURS[name]}m{text}\033[0m" if colour else text

    blocks = []
    for one in findings:
        name = f"{paint('bold', one.slug)} {paint('dim', f'[{code(one.slug)}]')}"
        head = f"{paint('bold', one.where)}: {paint(one.severity, one.severity)} {name}"
        blocks.append(
            "\n".join([head, *_excerpt(one, lines(one.path), paint), f"  {one.message}", *_remedy(one, paint)])
        )
    return "\n\n".join(blocks)


def _excerpt(one: Finding, text: Sequence[str], paint: Callable[[str, str], str]) -> list[str]:
    if not 0 < one.line <= len(text):
        return []
    line = text[one.line - 1].expandtabs(1).rstrip()
    number = str(one.line)
    stop = one.end_column - 1 if one.end_line == one.line else len(line)
    start = max(one.column - 1, 0)
    caret = " " * start + "^" * max(min(stop, len(line)) - start, 1)
    bar = paint("dim", "|")
    return [f"  {paint('dim', number)} {bar} {line}", f"  {' ' * len(number)} {bar} {paint(one.severity, caret)}"]


def _remedy(one: Finding, paint: Callable[[str, str], str]) -> list[str]:
    if not one.edits:
        return []
    flag = "--fix" if one.safe else "--fix --unsafe-fixes"
    return [paint("dim", f"  {flag} writes it")]


def summary(findings: Sequence[Finding], hidden: int, files: int, *, new: bool = False) -> str:
    """The last line for people; `new`: what a baseline or an older revision has is not among the findings."""
    if not files:
        return "nothing was checked: no Python file and no notebook there"
    if not findings:
        calm = "nothing new found" if new else "nothing found"
        return f"{files} {'file' if files == 1 else 'files'} checked: {calm}" + _hidden(hidden)
    counts = Counter(str(one.severity) for one in findings)
    parts = [f"{counts[s]} {s}{'s' if counts[s] > 1 else ''}" for s in map(str, Severity) if counts[s]]
    fixes = sum(bool(one.edits) and one.safe for one in findings)
    offer = f"; --fix repairs {fixes}" if fixes else ""
    return f"{', '.join(parts)} in {len({one.path for one in findings})} of {files} files{offer}" + _hidden(hidden)


def _hidden(count: int) -> str:
    return f" ({count} {'hint' if count == 1 else 'hints'} not shown: --hints)" if count else ""


def statistics(findings: Iterable[Finding]) -> str:
    """How often each rule spoke, most first."""
    rows = [(one.slug, str(one.severity)) for one in findings]
    return "\n".join(
        f"{count:6}  {kind:7}  {slug}"
        for (slug, kind), count in sorted(Counter(rows).items(), key=lambda r: (-r[1], r[0]))
    )


def as_json(findings: Iterable[Finding]) -> str:
    """A list of objects, edits included (character offsets into the file, or into the program of a notebook)."""
    return json.dumps([_object(one) for one in findings], indent=1)


def _object(one: Finding) -> dict[str, Any]:
    file, cell = file_and_cell(one.path)
    found: dict[str, Any] = {"slug": one.slug, "code": code(one.slug), "severity": str(one.severity)}
    found |= {"message": one.message, "path": file}
    if cell:
        found["cell"] = int(cell)
    found |= {"line": one.line, "column": one.column, "end_line": one.end_line, "end_column": one.end_column}
    edits = [{"start": edit.start, "end": edit.end, "text": edit.text} for edit in one.edits]
    return found | {"fix": {"safe": one.safe, "edits": edits} if edits else None, "explain": f"lore explain {one.slug}"}


def github(findings: Iterable[Finding]) -> str:
    """GitHub's annotations."""

    def escape(text: str, *, property_: bool = False) -> str:
        text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        return text.replace(":", "%3A").replace(",", "%2C") if property_ else text

    rows = []
    for one in findings:
        file, cell = file_and_cell(one.path)
        place = f"file={escape(file, property_=True)},line={one.line},col={one.column},endLine={max(one.end_line, one.line)}"
        note = f"cell {cell}: " if cell else ""
        rows.append(
            f"::{_GITHUB[one.severity]} {place},title={escape(f'{one.slug} ({code(one.slug)})', property_=True)}"
            f"::{escape(note + one.message)}"
        )
    return "\n".join(rows)


def gitlab(findings: Iterable[Finding]) -> str:
    """GitLab's code quality report."""
    from torchlore.check.cache import digest

    seen: Counter[str] = Counter()
    rows = []
    for one in findings:
        key = f"{one.path}{one.slug}{one.message}"
        seen[key] += 1
        location = {
            "path": file_and_cell(one.path)[0],
            "lines": {"begin": one.line, "end": max(one.end_line, one.line)},
        }
        fingerprint = digest(key.encode(), str(seen[key]).encode())
        rows.append({"description": one.message, "check_name": one.slug, "fingerprint": fingerprint,
                     "severity": _GITLAB[one.severity], "location": location})  # fmt: skip
    return json.dumps(rows, indent=1)


def junit(findings: Iterable[Finding]) -> str:
    """JUnit's XML: a failed test for each finding."""
    from xml.sax.saxutils import escape, quoteattr

    cases = [
        f"  <testcase classname={quoteattr(one.path)} name={quoteattr(one.slug)} file={quoteattr(file_and_cell(one.path)[0])}"
        f' line="{one.line}"><failure type={quoteattr(str(one.severity))} message={quoteattr(one.message)}>'
        f"{escape(one.where)}</failure></testcase>"
        for one in findings
    ]
    head = f'<testsuite name="lore check" tests="{max(len(cases), 1)}" failures="{len(cases)}">'
    body = cases or ['  <testcase classname="lore check" name="clean"/>']
    return "\n".join(['<?xml version="1.0" encoding="utf-8"?>', head, *body, "</testsuite>"])


def sarif(findings: Sequence[Finding], titles: Mapping[str, str], lines: Callable[[str], Sequence[str]]) -> str:
    """SARIF 2.1.0, with the rules' titles and the fixes."""
    from torchlore import __version__

    slugs = sorted({one.slug for one in findings})
    rules = [
        {"id": slug, "name": code(slug), "shortDescription": {"text": titles.get(slug, slug)},
         "help": {"text": f"lore explain {slug}"}} for slug in slugs
    ]  # fmt: skip
    driver = {"name": "torchlore", "version": __version__, "rules": rules}
    results = [_result(one, slugs.index(one.slug), lines) for one in findings]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return json.dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}, indent=1)


def _result(one: Finding, index: int, lines: Callable[[str], Sequence[str]]) -> dict[str, Any]:
    artifact = {"uri": file_and_cell(one.path)[0].replace("\\", "/")}
    region: dict[str, int] = {"startLine": max(one.line, 1), "startColumn": max(one.column, 1)}
    if one.end_line:
        region |= {"endLine": one.end_line, "endColumn": one.end_column}
    found: dict[str, Any] = {
        "ruleId": one.slug, "ruleIndex": index, "level": _SARIF[one.severity], "message": {"text": one.message},
        "locations": [{"physicalLocation": {"artifactLocation": artifact, "region": region}}],
    }  # fmt: skip
    if one.edits and not file_and_cell(one.path)[1]:
        text = "\n".join(lines(one.path))
        changes = [
            {"deletedRegion": _region(text, edit.start, edit.end), "insertedContent": {"text": edit.text}}
            for edit in one.edits
        ]
        found["fixes"] = [{"description": {"text": one.message},
                           "artifactChanges": [{"artifactLocation": artifact, "replacements": changes}]}]  # fmt: skip
    return found


def _region(text: str, start: int, end: int) -> dict[str, int]:
    def place(offset: int) -> tuple[int, int]:
        return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)

    (line, column), (end_line, end_column) = place(start), place(end)
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}
