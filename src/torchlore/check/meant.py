"""Lines of which the program itself says that they do not count: they never run, or a switch keeps an old fault."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from torchlore.check import tree
from torchlore.check.pattern import regex

if TYPE_CHECKING:
    from torchlore.check.source import Source

_REPAIRS = regex(
    r"bug_?fix|(^|_)fix(es)?_\w*(bug|mask|issue)", re.IGNORECASE
)  # `fix_backbone` freezes, `correct` counts
_KEEPS = regex(r"(^|_)(legacy|compat|buggy|bug|bugs)(_|$)", re.IGNORECASE)


def never_runs(source: Source, line: int) -> bool:
    """Whether a line stands behind a `return`, `raise`, `break` or `continue` of its own block."""
    if "dead" not in source.memo:
        source.memo["dead"] = [span for block in _blocks(source) if (span := _behind(block)) is not None]
    return any(first <= line <= last for first, last in source.memo["dead"])


def _blocks(source: Source) -> list[list[ast.stmt]]:
    homes = source.all(ast.FunctionDef, ast.AsyncFunctionDef, ast.For, ast.While, ast.If, ast.With, ast.Try)  # type: ignore[type-var]  # all of them hold statements
    return [block for one in homes for block in tree.blocks(one) if block]


def _behind(block: list[ast.stmt]) -> tuple[int, int] | None:
    leaves = next((one for one in block if isinstance(one, ast.Return | ast.Raise | ast.Break | ast.Continue)), None)
    last = block[-1].end_lineno or 0
    return ((leaves.end_lineno or 0) + 1, last) if leaves is not None and leaves is not block[-1] else None


def keeps_a_fault(source: Source, line: int) -> bool:
    """`if self.fix_mask: ... else: ...` and `if legacy:`: what was wrong is kept for those who need it."""
    for choice in source.all(ast.If):
        word = tree.dotted(choice.test).rpartition(".")[2]
        if not word or not choice.lineno <= line <= (choice.end_lineno or 0):
            continue
        old = choice.orelse if _REPAIRS.search(word) else choice.body if _KEEPS.search(word) else []
        if any(one.lineno <= line <= (one.end_lineno or 0) for one in old):
            return True
    return False
