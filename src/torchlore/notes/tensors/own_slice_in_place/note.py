"""`x -= x[:, :1]` changes the column that it still has to subtract: write `x = x - x[:, :1]`.

The right side is a view of the left one. Torch works row by row in memory: the first entry becomes `x[0] - x[0]`, which is 0, and
where the row is short the others then subtract that 0. Wide rows are read in blocks and come out right, so a test with long
rows passes and 21 joints with 3 coordinates do not move to their root. NumPy notices the overlap and copies; torch
raises an error for `x -= x[0]` only, where the overlap is plain.

Give it memory of its own: `x = x - x[:, :1]`, or `x -= x[:, :1].clone()`.
"""

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import edits, tree, values
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/pytorch/pytorch/issues/135487",)
TORCH = "2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert good["offset"] < 1e-5
    assert bad["offset"] > 1  # every joint but the first is where it was


def find(source: Source) -> Iterator[Hit]:
    for one in source.all(ast.AugAssign):
        part = one.value
        if not isinstance(part, ast.Subscript):
            continue
        whole = one.target.value if isinstance(one.target, ast.Subscript) else one.target
        name, where = tree.dotted(whole), _place(part.slice)
        same = bool(name) and where is not None and tree.dotted(part.value) == name
        inside = not isinstance(one.target, ast.Subscript) or _holds(one.target.slice, part.slice, where)
        if same and inside and values.sure(source, part.value, "tensor"):
            code = source.code(part)
            told = f"`{code}` is a part of `{name}` and is changed while it is still read: write `{code}.clone()`"
            yield source.hit(one, told, *edits.method(source, part, "clone()"))


def _place(index: ast.expr) -> int | None:
    """Where it takes one place near the front of a later dimension and keeps that: `[:, :1]`, `[..., 0:1]`, `[:, 0, None]`."""
    parts = index.elts if isinstance(index, ast.Tuple) else []
    fresh = any(isinstance(one, ast.Constant) and one.value is None for one in parts)
    for k, one in enumerate(parts[1:], 1):
        if isinstance(one, ast.Slice) and _is_one(one):
            return k
        number = tree.literal(one)
        if fresh and type(number) is int and number >= 0:
            return k
    return None


def _is_one(part: ast.Slice) -> bool:
    low = tree.literal(part.lower) if part.lower is not None else 0
    high = tree.literal(part.upper) if part.upper is not None else None
    return part.step is None and type(low) is int and type(high) is int and low >= 0 and high - low == 1


def _holds(target: ast.expr, index: ast.expr, place: int | None) -> bool:
    """Whether what is written to has that place in it: `x[:, 1:] -= x[:, :1]` does not."""
    wide = target.elts if isinstance(target, ast.Tuple) else []
    size = len(index.elts) if isinstance(index, ast.Tuple) else 0
    part = wide[place] if place is not None and len(wide) == size else None
    if not isinstance(part, ast.Slice) or (part.lower is not None and tree.literal(part.lower) != 0):
        return False
    end, read = tree.literal(part.upper) if part.upper is not None else None, _first(index, place)
    return (
        not isinstance(end, int) or read is None or end < 0 or read < end
    )  # `x[:, :2] /= x[:, 2:3]` has no place in common


def _first(index: ast.expr, place: int | None) -> int | None:
    """The place that is read: 2 of `[:, 2:3]`."""
    one = index.elts[place] if isinstance(index, ast.Tuple) and place is not None else None
    number = (
        (tree.literal(one.lower) if one.lower is not None else 0) if isinstance(one, ast.Slice) else tree.literal(one)
    )
    return number if type(number) is int else None
