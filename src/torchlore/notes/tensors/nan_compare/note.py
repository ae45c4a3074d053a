"""A comparison with NaN is never true: `x == float("nan")` finds nothing.

NaN equals nothing, itself included, so `if loss == float("nan")` never fires and the run goes on with weights that are
all NaN. `is np.nan` asks whether it is that very object: a NaN that a computation made is another one. `!= nan` is
always true.

Ask the value: `torch.isnan(t).any()` for tensors, `math.isnan(x)` for numbers, `np.isnan(a)` for arrays. Better still
`torch.isfinite(loss)`, which finds infinities too, one step before they become NaN. `x != x` is an old trick that
works, and that nobody reads.
"""

import ast
from collections.abc import Iterator
from typing import Annotated, Any

from torchlore.check import edits, scopes, tree, values
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = ("https://github.com/python/cpython/issues/91176",)
TORCH = "2.11, 2.15"
NEEDS = ("numpy",)
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import torch

    assert bad["skipped"] == 0
    assert good["skipped"] == 1
    t = torch.tensor([1.0, float("nan")], device=device)
    nan = float("nan")
    assert (t == nan).tolist() == [False, False]
    assert torch.isnan(t).tolist() == [False, True]
    assert torch.isfinite(t).tolist() == [True, False]


_NAN = {"numpy.nan", "math.nan", "torch.nan", "numpy.NaN", "numpy.NAN"}
_ASK = {"tensor": "torch.isnan", "ndarray": "np.isnan"}

WORDS = ("nan|NaN|NAN|Nan|naN|nAn|NAn|nAN",)


def find(source: Source) -> Iterator[Hit]:
    for node in source.all(ast.Compare):
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Eq | ast.NotEq | ast.Is | ast.IsNot):
            continue
        sides = (node.left, node.comparators[0])
        other = next((one for one, nan in (sides, sides[::-1]) if _is_nan(source, nan)), None)
        same = isinstance(node.ops[0], ast.Is | ast.IsNot)
        if other is None or _is_nan(source, other) or (same and _marker(source, other)):
            continue
        kinds = values.kind(source, other)
        ask = _ASK.get(next(iter(kinds)), "math.isnan") if len(kinds) == 1 else "math.isnan"
        negative = isinstance(node.ops[0], ast.NotEq | ast.IsNot)
        write = f"{'not ' if negative else ''}{ask}({source.code(other)})"
        edit = [edits.replace(source, node, write)] if kinds == {"tensor"} and not negative else []
        always = "always true" if negative else "never true"
        yield source.hit(node, f"NaN equals nothing, so `{source.code(node)}` is {always}: write `{write}`", *edit)


def _marker(source: Source, node: ast.expr) -> bool:
    """`fill is np.nan` may ask for the very object that is the default of a parameter."""
    given = isinstance(node, ast.Name) and any(one.how == "parameter" for one in scopes.reaching(source, node))
    return given or not values.sure(source, node, "tensor", "number", "ndarray")


def _is_nan(source: Source, node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and source.name(node.func) == "float":
        text = tree.literal(node.args[0]) if node.args else None
        return isinstance(text, str) and text.lower().lstrip("+-") == "nan"
    return isinstance(node, ast.Attribute | ast.Name) and source.name(node) in _NAN


def watch(call: Annotated[Call, "eq", "ne", "__eq__", "__ne__"]) -> Alarm | None:
    other = call.args[1] if len(call.args) > 1 else None
    if not isinstance(other, float) or other == other:  # noqa: PLR0124 - only NaN differs from itself
        return None
    return Alarm("this compares a tensor with NaN, which equals nothing: write `torch.isnan(x)`")
