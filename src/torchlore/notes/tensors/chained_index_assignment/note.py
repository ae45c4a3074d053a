"""x[mask][i] = v writes into a copy: the first pair of brackets has already copied.

Indexing with a mask, a list or a tensor of indices returns new memory. The second index then writes into that, and it
is gone with the line. So is `x[mask].fill_(v)`. `x[2][i] = v` and `x[1:3][i] = v` do work, because an integer or a slice gives a view, and so the
wrong form is easily taken for right.

Use one pair of brackets: `x[rows, 0] = v`. For "the first of those that are masked" get the index first:
`x[mask.nonzero()[0, 0]] = v`. Or take the part out, change it and put it back: `part = x[mask]; part[0] = v; x[mask] =
part`.
"""

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import follow, grouped, tree, values
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/pytorch/pytorch/issues/80155", "https://github.com/pytorch/pytorch/issues/2599")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import torch

    assert bad["set"] == 0
    assert good["set"] == 2
    x = torch.zeros(3, 2, device=device)
    x[1:][0] = 1.0  # a slice is a view
    assert x.sum() == 2
    x[[1, 2]][0] = 5.0  # a list copies
    assert x.sum() == 2


_PICKS = {"nonzero", "argsort", "topk", "randperm", "where", "argwhere", "isnan", "isinf", "isfinite", "logical_not",
          "logical_and", "logical_or", "eq", "ne", "gt", "lt", "ge", "le", "bool"}  # fmt: skip


def find(source: Source) -> Iterator[Hit]:
    for method, call in ((name, call) for name, calls in grouped.alone(source).items() for call in calls):
        part = tree.receiver(call)
        in_place = method.endswith("_") and not method.startswith("_")
        if in_place and isinstance(part, ast.Subscript) and (grade := _grade(source, part)):
            code = source.code(part)
            told = f"`{code}` is a copy, so `{method}` changes nothing that stays: assign, `{code} = ...`"
            yield source.hit(call, told, severity=grade)
    for node in grouped.stored(source):
        inner = node.value
        grade = _grade(source, inner) if isinstance(inner, ast.Subscript) else ""
        if isinstance(inner, ast.Subscript) and grade and values.sure(source, inner.value, "tensor", "ndarray"):
            code, mask = source.code(inner.value), source.code(inner.slice)
            message = (
                f"`{code}[{mask}]` is a copy, and this write goes into it and is lost: use one pair of brackets, "
                f"`{code}[{mask}, {source.code(node.slice)}]`"
            )
            yield source.hit(node, message, severity=grade)


def _grade(source: Source, part: ast.Subscript) -> str:
    """How sure it is that the first brackets copy: a warning where only the index's name says so."""
    if _copies(source, part.slice):
        return "error"
    named = isinstance(part.slice, ast.Name) and part.slice.id.split("_")[-1] in ("mask", "masks")
    return "warning" if named and not values.maybe(source, part.slice, "number") else ""


def _copies(source: Source, index: ast.expr) -> bool:
    """Whether this index surely is a mask or a list of places, which copies, and not a number or a slice."""
    index = follow.followed(source, index)
    if isinstance(index, ast.Tuple):
        return any(_copies(source, part) for part in index.elts)
    if isinstance(index, ast.UnaryOp | ast.BinOp):
        parts = [index.operand] if isinstance(index, ast.UnaryOp) else [index.left, index.right]
        return isinstance(index.op, ast.Invert | ast.BitAnd | ast.BitOr) and any(
            _copies(source, part) for part in parts
        )
    if isinstance(index, ast.Call):
        listed = source.name(index.func) == "torch.tensor" and bool(index.args) and isinstance(index.args[0], ast.List)
        picks = isinstance(index.func, ast.Attribute) and index.func.attr in _PICKS
        return listed or (picks and values.sure(source, index, "tensor", "ndarray"))
    return isinstance(index, ast.List | ast.Compare)
