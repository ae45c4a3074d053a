"""`log(1 + x)`, `exp(x) - 1` and `log(sum(exp(x)))` lose what they compute; torch has exact forms.

In float32 `1 + x` is 1 for every x below 6e-8, so `log(1 + x)` is 0 and its gradient is that of a constant; `exp(x) - 1`
cancels the same way. `log(sum(exp(x)))` overflows to infinity at 89 and underflows to minus infinity at -104, where the
answer is an ordinary number.

Write `torch.log1p(x)`, `torch.expm1(x)` and `torch.logsumexp(x, dim)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import edits, grouped, tree, values
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/pytorch-labs/torchfix",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "hint"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    import math

    assert bad["log"] == 0 < good["log"]
    assert bad["exp"] == 0 < good["exp"]
    assert math.isinf(bad["sum"])
    assert abs(good["sum"] - (100 + math.log(2))) < 1e-3


WORDS = ("log|exp",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.log"):
        inner = call.args[0] if len(call.args) == 1 and not call.keywords else None
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Add):
            rest = [
                side
                for side, other in ((inner.left, inner.right), (inner.right, inner.left))
                if tree.literal(other) == 1
            ]
            if rest and not values.sure(source, rest[0], "number"):
                new = f"torch.log1p({source.code(rest[0])})"
                yield source.hit(
                    call, f"`1 + x` rounds a small x away: write `{new}`", edits.replace(source, call, new), safe=False
                )
        elif isinstance(inner, ast.Call) and (new := _logsumexp(source, inner)):
            yield source.hit(
                call,
                f"`exp` overflows where the result would not: write `{new}`",
                edits.replace(source, call, new),
                safe=False,
            )
    for minus in grouped.operations(source, ast.Sub) if "exp" in source.text else ():
        one = tree.literal(minus.right) == 1
        if one and isinstance(minus.left, ast.Call) and source.name(minus.left.func) == "torch.exp" and minus.left.args:
            new = f"torch.expm1({source.code(minus.left.args[0])})"
            told = f"`exp(x) - 1` cancels for a small x: write `{new}`"
            yield source.hit(minus, told, edits.replace(source, minus, new), safe=False)


def _logsumexp(source: Source, total: ast.Call) -> str:
    if source.name(total.func) != "torch.sum" or not total.args or not isinstance(total.args[0], ast.Call):
        return ""
    inside, dim = total.args[0], tree.argument(total, 1, "dim")
    if source.name(inside.func) != "torch.exp" or dim is None or tree.literal(dim) is None or len(inside.args) != 1:
        return ""
    if isinstance(inside.args[0], ast.BinOp) and isinstance(inside.args[0].op, ast.Sub):
        return ""  # the largest is taken away before: it cannot overflow
    keep = tree.argument(total, 2, "keepdim")
    tail = f", keepdim={source.code(keep)}" if keep is not None else ""
    return f"torch.logsumexp({source.code(inside.args[0])}, {source.code(dim)}{tail})"
