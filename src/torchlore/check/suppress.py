"""Comments that silence findings: `# lore: ignore[slug] reason`, `# lore: ignore-file[slug]`, `# noqa: TLR805`."""

from __future__ import annotations

import io
import re
import tokenize
from typing import TYPE_CHECKING, NamedTuple

from torchlore.check.codes import CODE, slug_of
from torchlore.check.pattern import regex
from torchlore.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

MARK = "lore:"
UNUSED = "unused-suppression"
ABOUT = """A comment silences nothing, or names no note.

A `# lore: ignore[slug]` or `# noqa: CODE` stays behind when its line is repaired, and one that is misspelt never
silenced anything. Left alone it hides the next finding on its line, or makes believe that it does.

Remove the comment, or write the slug or code as the finding shows it. Comments about what only `lore watch` finds are
left alone. Where they are meant to stay: `ignore = ["unused-suppression"]` in `[tool.torchlore]` of pyproject.toml.
"""
_COMMENT = regex(r"(?<!\S)#\s*lore:\s*(ignore-file|ignore)\b\s*(?:\[([^\]]*)\])?")
_MEANT = regex(
    r"(?<!\S)#\s*lore:\s*(?:([A-Za-z][\w-]*)\s*\[[^\]]*\]|(ig\w+|ing\w+|disable|skip|noqa|off|suppress)\s*$)"
)  # `# lore: ingore[slug]`, `# lore: disable`; a story's `# lore: dragons` is none
_NOQA = regex(r"#\s*noqa\s*:\s*([A-Z]+\d+(?:[,\s]+[A-Z]+\d+)*)", re.IGNORECASE)  # as flake8 reads it


class Suppression(NamedTuple):
    """One comment, with the lines it holds for (none: the whole file) and the slugs it silences (none: all)."""

    line: int
    column: int
    lines: frozenset[int]
    slugs: frozenset[str]
    text: str
    stray: str = ""  # what stands where `ignore` should, in a comment that silences nothing


def suppressions(text: str, known: Collection[str] = ()) -> list[Suppression]:
    """The comments of a text that silence findings; a string that looks like one does not count.

    A bare `# noqa` is about other tools; one with a code of ours silences that rule, out of the known ones.
    """
    if MARK not in text and not any(CODE.search(match[1]) for match in _NOQA.finditer(text)):
        return []
    found: list[Suppression] = []
    code: set[int] = set()
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                if match := _COMMENT.search(token.string):
                    found.append(_suppression(token, match, known))
                elif match := _MEANT.search(token.string):
                    place = token.start[1] + match.start() + 1
                    lines = frozenset({token.start[0]})
                    found.append(
                        Suppression(token.start[0], place, lines, frozenset(), match[0], stray=match[1] or match[2])
                    )
                if match := _NOQA.search(token.string):
                    found += _by_code(token, match, known)
            elif token.type not in (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
                code.update(range(token.start[0], token.end[0] + 1))
    except (tokenize.TokenError, SyntaxError):
        return []  # the parser has already said so
    own_line = [one for one in found if one.lines and one.line not in code and MARK in one.text]
    return [_next_line(one, code) if one in own_line else one for one in found]


def _suppression(token: tokenize.TokenInfo, match: re.Match[str], known: Collection[str]) -> Suppression:
    line, column = token.start[0], token.start[1] + match.start()
    slugs = frozenset(slug_of(part.strip(), known) for part in (match[2] or "").split(",") if part.strip())
    lines = frozenset() if match[1] == "ignore-file" else frozenset({line})
    return Suppression(line, column + 1, lines, slugs, match[0])


def _by_code(token: tokenize.TokenInfo, match: re.Match[str], known: Collection[str]) -> list[Suppression]:
    """One for each code of ours: `# noqa: E501, TLR805` is the business of two tools."""
    line, column = token.start
    return [
        Suppression(line, column + 1, frozenset({line}), frozenset({slug_of(code, known)}), f"noqa: {code}")
        for code in CODE.findall(match[1])
    ]


def _next_line(one: Suppression, code: set[int]) -> Suppression:
    """A comment on a line of its own speaks about the next line of code."""
    following = min((line for line in code if line > one.line), default=one.line)
    return one._replace(lines=frozenset({following}))


def apply(
    findings: Iterable[Finding], comments: list[Suppression], ran: Collection[str], known: Collection[str], path: str,
    *, whole: bool,
) -> list[Finding]:  # fmt: skip
    """The findings that are not silenced, plus one for each comment that silenced nothing or names no note.

    `whole`: every rule ran, so that a comment which names none can be judged too.
    """
    kept: list[Finding] = []
    used: set[Suppression] = set()
    for found in findings:
        by = [one for one in comments if _silences(one, found)]
        used.update(by)
        if not by:
            kept.append(found)
    for one in comments:
        message = _complaint(one, ran, known, used=one in used, whole=whole)
        if message:
            end = one.column + len(one.text)
            kept.append(Finding(UNUSED, message, Severity.WARNING, path, one.line, one.column, one.line, end))
    return kept


def _silences(one: Suppression, found: Finding) -> bool:
    if one.stray or (one.slugs and found.slug not in one.slugs):
        return False
    return not one.lines or any(found.line <= line <= max(found.end_line, found.line) for line in one.lines)


def _complaint(one: Suppression, ran: Collection[str], known: Collection[str], *, used: bool, whole: bool) -> str:
    if one.stray:
        return f"lore does not know `{one.stray}`, so this comment silences nothing: write `# lore: ignore[slug]`"
    strangers = sorted(slug for slug in one.slugs if slug not in known)
    if strangers:
        return f"no rule is called `{strangers[0]}`: this comment silences nothing by that name"
    if used or (one.slugs and not one.slugs <= set(ran)):
        return ""
    return f"nothing to silence here: remove `{one.text}`" if one.slugs or whole else ""
