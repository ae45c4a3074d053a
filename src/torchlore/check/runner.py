"""Checks files: reads them, hands them to the rules, applies suppressions, in worker processes and through the cache."""

from __future__ import annotations

import gc
import os
import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from torchlore.check import config as configuration
from torchlore.check import documents, engine, memory, suppress, syntax
from torchlore.check.codes import code
from torchlore.check.files import Unreadable, decode, read_bytes
from torchlore.check.project import Project, module_name
from torchlore.check.record import proven
from torchlore.check.source import Source
from torchlore.check.text import Text
from torchlore.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from torchlore.check.cache import Cache
    from torchlore.check.config import Config
    from torchlore.check.engine import Rule, RuleFailed

_WORD = b"torch"  # a file without it has no trap of ours
_DEEPEST = 5000  # calls in calls: a chain of five hundred methods is a thousand nodes deep


class Report(NamedTuple):
    """What a check said: findings in order of place, and what went wrong."""

    findings: list[Finding]
    failures: list[RuleFailed]
    trouble: list[Unreadable]


def check(
    files: Sequence[str], rules: Mapping[str, Rule], config: Config, *, jobs: int = 1, cache: Cache | None = None
) -> Report:
    """Check these files with these rules."""
    contents = [(path, read_bytes(path)) for path in files]
    said: list[Finding | RuleFailed | Unreadable] = [data for _, data in contents if isinstance(data, Unreadable)]
    readable = [(path, data) for path, data in contents if isinstance(data, bytes)]
    whole, todo = _from_cache(readable, cache, said)
    project = Project(torch=config.torch)
    project.add(path for path, _ in readable if path.endswith(".py"))
    project.contents.update(readable)
    long = sum(len(data) for _, data, _ in todo) > memory.LEAST
    work = Work(rules, config, project, memory.characters(jobs) if long else memory.LEAST)
    for path, content, around, found in _run(work, todo, jobs):
        said += found
        if cache is not None and all(isinstance(one, Finding) for one in found):
            cache.put(path, content, whole if around else "", (one for one in found if isinstance(one, Finding)))
    if cache is not None:
        cache.save()
    return report(said)


def report(said: Iterable[Finding | RuleFailed | Unreadable]) -> Report:
    """Sorted into findings, failed rules and what could not be read."""
    found = Report([], [], [])
    for one in said:
        if isinstance(one, Finding):
            found.findings.append(one)
        elif isinstance(one, Unreadable):
            found.trouble.append(one)
        else:
            found.failures.append(one)
    found.findings.sort(key=engine.order)
    return found


def _from_cache(
    readable: list[tuple[str, bytes]], cache: Cache | None, said: list[Finding | RuleFailed | Unreadable]
) -> tuple[str, list[tuple[str, bytes, str]]]:
    if cache is None:
        return "", [(path, data, "") for path, data in readable if _WORD in data]
    from torchlore.check.cache import digest

    named = [(path, data, digest(data)) for path, data in readable]
    whole = digest(*(f"{path}{content}".encode() for path, _, content in named))
    todo: list[tuple[str, bytes, str]] = []
    for path, data, content in named:
        if _WORD not in data:
            continue
        known = cache.get(path, content, whole)
        if known is None:
            todo.append((path, data, content))
        else:
            said += known
    return whole, todo


class Work(NamedTuple):
    """What every process of one check shares."""

    rules: Mapping[str, Rule]
    config: Config
    project: Project
    kept: int = memory.LEAST  # characters of parsed files a process keeps


Done = tuple[str, str, bool, "list[Finding | RuleFailed | Unreadable]"]
_shared: list[Work] = []  # set before the fork, so that rules need not be pickled


def _run(work: Work, todo: list[tuple[str, bytes, str]], jobs: int) -> Iterable[Done]:
    if jobs <= 1 or len(todo) < 24 or not hasattr(os, "fork"):  # below this a pool costs more than it saves
        return _chunk(work, todo)
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    size = max(4, len(todo) // (jobs * 8))
    chunks = [todo[start : start + size] for start in range(0, len(todo), size)]
    _shared.append(work)
    try:
        with ProcessPoolExecutor(jobs, multiprocessing.get_context("fork")) as pool:
            return [done for part in pool.map(_in_worker, chunks) for done in part]
    finally:
        _shared.pop()


def _in_worker(todo: list[tuple[str, bytes, str]]) -> list[Done]:
    return _chunk(_shared[-1], todo)


def _chunk(work: Work, todo: list[tuple[str, bytes, str]]) -> list[Done]:
    done: list[Done] = []
    was_on, deepest = gc.isenabled(), sys.getrecursionlimit()
    gc.disable()  # trees are freed by `release`; walking them again and again costs a tenth of the time
    sys.setrecursionlimit(max(deepest, _DEEPEST))
    try:
        for path, data, content in todo:
            work.project.begin(path)
            found = check_bytes(path, data, work)
            done.append((path, content, bool(work.project.consulted), found))
            work.project.trim(work.kept)
    finally:
        sys.setrecursionlimit(deepest)
        if was_on:
            gc.enable()
    return done


def check_bytes(path: str, data: bytes, work: Work) -> list[Finding | RuleFailed | Unreadable]:
    """Check one file by its content."""
    text = decode(path, data)
    if isinstance(text, Unreadable):
        return [text]
    if path.endswith(".ipynb"):
        return check_notebook(path, text, work)
    if path.endswith(".md"):
        return check_markdown(path, text, work)
    return check_text(path, text, work)


def check_text(
    path: str, text: str, work: Work, shown_lines: frozenset[int] = frozenset()
) -> list[Finding | RuleFailed | Unreadable]:
    """Check one Python text."""
    known = work.project.parsed.get(path)
    same = known is not None and known.text == text
    if same:
        work.project.consulted.add(path)  # what is known about it by now may come from other files
    if text == (before := work.project.texts.get(path)):
        text = before  # its words are known
    source = known if known is not None and same else engine.parse(text, path, work.project, module_name(path))
    if isinstance(source, Finding):
        return [source]
    source.shown = shown_lines
    return check_source(source, work)


def check_source(source: Source, work: Work) -> list[Finding | RuleFailed | Unreadable]:
    """Check one parsed text: rules, the user's choices, suppressions; sorted."""
    path, text = source.path, source.text
    work.project.adopt(source)
    rules = chosen(work.rules, work.config, path)
    said = set(engine.run(source, rules))
    findings = sorted((_graded(one, work.config) for one in said if isinstance(one, Finding)), key=engine.order)
    names = work.config.known or work.rules.keys()
    comments = suppress.suppressions(text, names)
    if comments:
        whole = len(rules) == len(work.rules)
        told = suppress.apply(findings, comments, rules, names, path, whole=whole)
        quiet = configuration.silent(work.config, path)
        findings = sorted(
            (one for one in told if one.slug != suppress.UNUSED or one.slug not in quiet), key=engine.order
        )
    return [*findings, *sorted(one for one in said if not isinstance(one, Finding))]


_choices: dict[tuple[int, tuple[str, ...], frozenset[str]], tuple[Mapping[str, Rule], Mapping[str, Rule]]] = {}


def chosen(rules: Mapping[str, Rule], config: Config, path: str) -> Mapping[str, Rule]:
    """The rules that run on a file."""
    quiet = frozenset(configuration.silent(config, path))
    if not quiet and not config.select:
        return rules
    key = id(rules), config.select, quiet
    if key not in _choices or _choices[key][0] is not rules:
        wanted = set(config.select)
        named = {slug: {slug, code(slug)} for slug in rules}
        left = {slug: rule for slug, rule in rules.items()
                if (not wanted or named[slug] & wanted) and not named[slug] & quiet}  # fmt: skip
        _choices[key] = rules, left
    return _choices[key][1]


def _graded(found: Finding, config: Config) -> Finding:
    asked = dict(config.severity)
    chosen_severity = asked.get(found.slug) or asked.get(code(found.slug))
    if chosen_severity:
        return replace(found, severity=Severity(chosen_severity))
    unsure = found.severity is Severity.ERROR and not proven(found.slug)
    return replace(found, severity=Severity.WARNING) if unsure else found


def shown(found: Finding, config: Config) -> bool:
    """Whether a finding is severe enough to be shown, or was asked for by name."""
    return found.severity.rank <= config.show.rank or found.slug in config.select


def check_notebook(path: str, raw: str, work: Work) -> list[Finding | RuleFailed | Unreadable]:
    """Check a notebook: its cells are one program, findings name cell and line."""
    try:
        book = documents.notebook(raw)
    except documents.BrokenDocument as error:
        return [Unreadable(path, str(error))]
    said: list[Finding | RuleFailed | Unreadable] = [
        Finding(syntax.SYNTAX, *syntax.unread(why, "cell"), f"{path}:cell {cell}", line, 1)
        for cell, line, why in book.broken
    ]
    checked = check_text(path, book.program, work, documents.shown_lines(book))
    return said + [_in_cell(one, path, book) if isinstance(one, Finding) else one for one in checked]


def _in_cell(found: Finding, path: str, book: documents.Notebook) -> Finding:
    line = book.lines[min(found.line, len(book.lines)) - 1]
    last = book.lines[min(max(found.end_line, found.line), len(book.lines)) - 1]
    where = f"{path}:cell {book.cells[line.cell].number}"

    def told(match: re.Match[str]) -> str:
        other = book.lines[min(int(match[1]), len(book.lines)) - 1]
        return f"line {other.number}" + (f" of cell {book.cells[other.cell].number}" if other.cell != line.cell else "")

    message = re.sub(r"\bline ([1-9]\d*)\b", told, found.message)
    return replace(found, path=where, line=line.number, end_line=last.number, message=message)


def check_markdown(path: str, page: str, work: Work) -> list[Finding | RuleFailed | Unreadable]:
    """Check the Python blocks of a Markdown page, each for itself; a block that does not parse is an excerpt.

    What one block imports holds in all of them, and torch, nn, F and np are what they are everywhere.
    """
    said: list[Finding | RuleFailed | Unreadable] = []
    parsed = [
        (block, engine.parse(block.text, path, work.project, module_name(path))) for block in documents.blocks(page)
    ]
    sources = [(block, source) for block, source in parsed if isinstance(source, Source)]
    imports, around = dict(documents.USUAL), Text(page)
    for _, source in sources:
        imports |= source.names.imported
        source.around = around
    for block, source in sources:
        for name in imports.keys() - source.names.defined.keys():
            source.names.imported.setdefault(name, imports[name])
        said += [_in_page(one, block) if isinstance(one, Finding) else one for one in check_source(source, work)]
    return said


def _in_page(found: Finding, block: documents.Block) -> Finding:
    return replace(
        found,
        line=found.line + block.line,
        end_line=found.end_line + block.line,
        column=found.column + block.indent,
        end_column=found.end_column + block.indent,
        edits=(),  # a page is prose: its author writes the change
    )
