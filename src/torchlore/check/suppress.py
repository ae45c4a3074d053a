"""Comments that silence findings: `# lore: ignore[slug] reason`, `# lore: ignore-file[slug] reason`."""

from __future__ import annotations

import io
import re
import tokenize
from typing import TYPE_CHECKING, NamedTuple

from torchlore.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

MARK = "lore:"
UNUSED = "unused-suppression"
_COMMENT = re.compile(r"#\s*lore:\s*(ignore-file|ignore)\b\s*(?:\[([^\]]*)\])?")


class Suppression(NamedTuple):
    """One comment, with the lines it holds for (none: the whole file) and the slugs it silences (none: all)."""

    line: int
    column: int
    lines: frozenset[int]
    slugs: frozenset[str]
    text: str


def suppressions(text: str) -> list[Suppression]:
    """The comments of a text that silence findings; a string that looks like one does not count."""
    if MARK not in text or not _COMMENT.search(text):
        return []
    found: list[Suppression] = []
    code: set[int] = set()
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                match = _COMMENT.match(token.string)
                if match:
                    found.append(_suppression(token, match))
            elif token.type not in (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
                code.update(range(token.start[0], token.end[0] + 1))
    except (tokenize.TokenError, SyntaxError):
        return []  # the parser has already said so
    return [one if not one.lines or one.line in code else _next_line(one, code) for one in found]


def _suppression(token: tokenize.TokenInfo, match: re.Match[str]) -> Suppression:
    line, column = token.start
    slugs = frozenset(part.strip() for part in (match[2] or "").split(",") if part.strip())
    lines = frozenset() if match[1] == "ignore-file" else frozenset({line})
    return Suppression(line, column + 1, lines, slugs, match[0])


def _next_line(one: Suppression, code: set[int]) -> Suppression:
    """A comment on a line of its own speaks about the next line of code."""
    following = min((line for line in code if line > one.line), default=one.line)
    return one._replace(lines=frozenset({following}))


def apply(
    findings: Iterable[Finding], comments: list[Suppression], ran: Collection[str], known: Collection[str], path: str
) -> list[Finding]:
    """The findings that are not silenced, plus one for each comment that silenced nothing or names no rule."""
    kept: list[Finding] = []
    used: set[Suppression] = set()
    for found in findings:
        by = [one for one in comments if _silences(one, found)]
        used.update(by)
        if not by:
            kept.append(found)
    for one in comments:
        message = _complaint(one, ran, known, used=one in used)
        if message:
            end = one.column + len(one.text)
            kept.append(Finding(UNUSED, message, Severity.WARNING, path, one.line, one.column, one.line, end))
    return kept


def _silences(one: Suppression, found: Finding) -> bool:
    if one.slugs and found.slug not in one.slugs:
        return False
    return not one.lines or any(found.line <= line <= max(found.end_line, found.line) for line in one.lines)


def _complaint(one: Suppression, ran: Collection[str], known: Collection[str], *, used: bool) -> str:
    strangers = sorted(slug for slug in one.slugs if slug not in known)
    if strangers:
        return f"no rule is called `{strangers[0]}`: this comment silences nothing by that name"
    if used or (one.slugs and not one.slugs <= set(ran)):
        return ""
    return f"nothing to silence here: remove `{one.text}`" if one.slugs or len(ran) == len(known) else ""
