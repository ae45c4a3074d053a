"""Runs rules over texts. A rule is handed in; this room never imports a note."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from torchlore.check.follow import is_unit_test
from torchlore.check.gate import awake
from torchlore.check.meant import keeps_a_fault, never_runs
from torchlore.check.source import Hit, Source
from torchlore.check.syntax import SYNTAX, reason, unread
from torchlore.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from torchlore.check.project import Project


class Rule(NamedTuple):
    """One rule: the note's slug, its `find`, the severity of its findings, and the words without which it is silent."""

    slug: str
    find: Callable[[Source], Iterable[Hit]]
    severity: Severity = Severity.WARNING
    words: tuple[str, ...] = ()


class RuleFailed(NamedTuple):
    """A rule that raised: said in one line, while the rest goes on."""

    slug: str
    path: str
    error: str

    def __str__(self) -> str:
        return f"{self.path}: internal error in rule {self.slug}: {self.error}"


def parse(text: str, path: str, project: Project | None = None, module: str = "") -> Source | Finding:
    """The parsed file, or a finding that says why it cannot be parsed."""
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in the user's strings are not our business
            return Source(text, path, project, module)
    except SyntaxError as error:
        line, column = error.lineno or 1, error.offset or 1
        return Finding(SYNTAX, *unread(reason(error), "file"), path, line, column)
    except RecursionError:
        told = "an expression is nested too deeply to be read: nothing in this file was checked"
        return Finding(SYNTAX, told, Severity.WARNING, path, 1, 1)
    except (ValueError, MemoryError, OverflowError) as error:
        return Finding(SYNTAX, f"cannot be parsed ({type(error).__name__}: {error})", Severity.ERROR, path, 1, 1)


def run(source: Source, rules: Mapping[str, Rule]) -> Iterator[Finding | RuleFailed]:
    """Every rule's findings in one file, unsorted; a rule that raises is reported, not hidden."""
    seen: set[tuple[str, int, int]] = set()  # one softmax may be wrong for three losses: it is said once
    for rule in awake(rules, source.around):
        try:
            for hit in rule.find(source):
                if (rule.slug, hit.line, hit.column) not in seen and not never_runs(source, hit.line):
                    seen.add((rule.slug, hit.line, hit.column))
                    yield finding(rule, source, hit)
        except Exception as error:  # noqa: BLE001  # one broken rule must not silence the others; it is reported
            yield RuleFailed(rule.slug, source.path, f"{type(error).__name__}: {error}")


def finding(rule: Rule, source: Source, hit: Hit) -> Finding:
    """A rule's hit as a finding."""
    on_purpose = is_unit_test(source) or keeps_a_fault(source, hit.line)
    severity = Severity.HINT if on_purpose else hit.severity or rule.severity
    return Finding(rule.slug, hit.message, severity, source.path, hit.line, hit.column, hit.end_line, hit.end_column,
                   hit.edits, hit.safe)  # fmt: skip


def order(found: Finding) -> tuple[str, int, int, str, str]:
    """Findings sort by place, then by slug."""
    return found.path, found.line, found.column, found.slug, found.message


def check_text(text: str, rules: Mapping[str, Rule], path: str = "<text>") -> list[Finding]:
    """Findings in one text, sorted, suppressions not looked at; a rule's exception goes through. For tests and tools."""
    source = parse(text, path)
    if isinstance(source, Finding):
        return [source]
    hits = ((rule, hit) for rule in awake(rules, source.around) for hit in rule.find(source))
    found = {finding(rule, source, hit) for rule, hit in hits if not never_runs(source, hit.line)}
    return sorted(found, key=order)
