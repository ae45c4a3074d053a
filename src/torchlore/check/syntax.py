"""What to say of a file or cell that Python cannot parse."""

from __future__ import annotations

import re
import sys

from torchlore.finding import Severity

SYNTAX = "syntax-error"
ABOUT = """The file, or a notebook's cell, is no Python that this Python reads.

The sentence is Python's own. Nothing else in the file was checked, so that its silence means nothing.

Repair the line. Where it is written for a newer Python, run lore under that one; where it is no Python at all, such as a
template, name it in `exclude` in `[tool.torchlore]` of pyproject.toml.
"""
_PARAMETERS = re.compile(r"\s*(?:(?:async\s+)?def|class|type)\s+\w+\s*\[|\s*type\s+\w+\s*=")
_OF_312 = ("f-string", "type parameters")  # how those reasons begin that Python 3.12 does not know


def reason(error: SyntaxError) -> str:
    """Why it does not parse, in Python's words where these are good enough."""
    line = error.text or ""
    if "async=" in line.replace(" ", ""):  # `x.cuda(async=True)` of Python 3.6
        return "`async` is a word of Python itself since 3.7, write `non_blocking`"
    if sys.version_info < (3, 12) and _PARAMETERS.match(line):  # `class Stack[T]:`, `type Pair = ...`
        return "type parameters and `type` statements are new in Python 3.12"
    return error.msg


def unread(why: str, what: str) -> tuple[str, Severity]:
    """The message and its severity: a warning where a newer Python than the one that runs may read it."""
    told = f"{why}: nothing in this {what} was checked"
    if sys.version_info < (3, 12) and why.startswith(_OF_312):
        return f"{told}; Python 3.12 may read it, run lore under that", Severity.WARNING
    return told, Severity.ERROR
