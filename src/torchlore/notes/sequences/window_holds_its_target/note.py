"""A window `x[i : i + n]` ends at `i + n - 1`: that value is no forecast, the model has just read it.

The slice leaves its end out, so `series[i + n]` is the value after the window and `series[i + n - 1]` the last one in it. A model
that is trained to say the latter learns to copy its last input: the error is near zero at once, in training and in validation, and
what it says of tomorrow is today.

Take the value behind the window, `series[i + n]`, and let the dataset be as much shorter: `len(series) - n`.
"""

import ast
from collections.abc import Iterator

from torchlore.check import grouped, tree
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
    ended = [one for one in grouped.indexed(source, ast.BinOp) if isinstance(one.ctx, ast.Load)]
    goals = [(one, end) for one in ended if "- 1]" in source.text and (end := _end(source, one.slice))]
    parts = [one for one in source.all(ast.Subscript) if isinstance(one.ctx, ast.Load)] if goals else []
    for goal, end in goals:
        home, base = tree.function(source, goal), source.code(goal.value)
        same = [one for one in parts if tree.function(source, one) is home and source.code(one.value) == base]
        window = next((one for one in same if _ends_at(source, one.slice, end)), None)
        alone = [other for other, _ in goals if other in same] == [goal]
        if window is None or not alone or any(end in _starts(source, one.slice) for one in same):
            continue
        if _is_pair(source, window, goal):
            told = f"`{source.code(goal)}` is the last value of `{source.code(window)}`, which the model reads: the next one is `{base}[{end}]`"
            yield source.hit(goal, told)


def _end(source: Source, index: ast.expr) -> str:
    """`i + n` of `i + n - 1`."""
    less = isinstance(index, ast.BinOp) and isinstance(index.op, ast.Sub) and tree.literal(index.right) == 1
    return source.code(index.left).strip("()") if less and isinstance(index, ast.BinOp) else ""


def _ends_at(source: Source, index: ast.expr, end: str) -> bool:
    """A plain slice from somewhere to that end."""
    plain = isinstance(index, ast.Slice) and index.step is None and index.lower is not None
    return plain and isinstance(index, ast.Slice) and index.upper is not None and source.code(index.upper) == end


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
