"""A window `x[i : i + n]` ends at `i + n - 1`: that value is no forecast, the model has just read it.

The slice leaves its end out, so `series[i + n]` is the value after the window and `series[i + n - 1]` the last one in it. A model
that is trained to say the latter learns to copy its last input: the error is near zero at once, in training and in validation, and
what it says of tomorrow is today.

Take the value behind the window, `series[i + n]`, and let the dataset be as much shorter: `len(series) - n`.
"""

import ast
from collections.abc import Iterator

from torchlore.check import tree
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/tensorflow/tensorflow/issues/40343",)
TORCH = "2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["copied"] == 1
    assert good["copied"] == 0


def find(source: Source) -> Iterator[Hit]:
    parts = [one for one in source.all(ast.Subscript) if isinstance(one.ctx, ast.Load)]
    for window in parts:
        end = window.slice.upper if isinstance(window.slice, ast.Slice) and window.slice.step is None else None
        if end is None or not isinstance(end, ast.BinOp | ast.Name) or window.slice.lower is None:  # type: ignore[attr-defined]  # a slice
            continue
        home, base, last = tree.function(source, window), source.code(window.value), source.code(end)
        same = [one for one in parts if tree.function(source, one) is home and source.code(one.value) == base]
        goals = [one for one in same if _before(source, one.slice, last)]
        ahead = any(last in _starts(source, one.slice) for one in same)
        if len(goals) == 1 and not ahead and _is_pair(source, window, goals[0]):
            told = f"`{source.code(goals[0])}` is the last value of `{source.code(window)}`, which the model reads: the next one is `{base}[{last}]`"
            yield source.hit(goals[0], told)


def _before(source: Source, index: ast.expr, end: str) -> bool:
    """`i + n - 1`, where `i + n` is the end."""
    less = isinstance(index, ast.BinOp) and isinstance(index.op, ast.Sub) and tree.literal(index.right) == 1
    return less and isinstance(index, ast.BinOp) and source.code(index.left).strip("()") == end


def _starts(source: Source, index: ast.expr) -> list[str]:
    """What a part begins at, or goes beyond: `i + n` of `x[i + n]`, of `x[i + n : i + n + 5]` and of `x[i : i + n + 5]`."""
    ends = [index.lower, index.upper] if isinstance(index, ast.Slice) else [index]
    begun = [source.code(one) for one in ends[:1] if one is not None]
    return begun + [source.code(one.left) for one in ends if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Add)]


def _is_pair(source: Source, window: ast.expr, goal: ast.expr) -> bool:
    """Whether the two are handed out together: both appended, returned, or named side by side in a `__getitem__`."""
    here, there = tree.statement(source, window), tree.statement(source, goal)
    both = [getattr(one.value, "func", None) for one in (here, there) if isinstance(one, ast.Expr)]
    appended = len(both) == 2 and all(isinstance(one, ast.Attribute) and one.attr == "append" for one in both)
    home = tree.function(source, window)
    return (
        appended
        or (home is not None and home.name == "__getitem__")
        or (here is there and isinstance(here, ast.Return))
    )
