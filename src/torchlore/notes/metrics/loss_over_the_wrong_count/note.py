"""A sum of batch means is divided by batches, a sum over samples by samples.

`loss.item()` is the mean over the batch. Add these up and divide by `len(loader.dataset)`, and the result is smaller than
the loss by the batch size. Multiply each by its batch size first and divide by `len(loader)`, and it is larger by as much.
Curves keep their shape, so nobody notices, until two runs with different batch sizes are compared, or training (one way)
and validation (the other).

Weigh by the batch and divide by what was seen, which is right for a short last batch too:

```python
total += loss.item() * x.size(0)
seen += x.size(0)
mean = total / seen
```
"""

import ast
import re
from collections.abc import Iterator

from torchlore.check import tree, values
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/pytorch/tutorials/issues/179",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"
_SIZE = re.compile(r"^len\(|\.size\(0\)$|\.shape\[0\]$|^(bs|n|batch_size|b_size|num_samples|bsz)$|\.batch_size$")


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert abs(good["mean"] - 2.0) < 1e-6
    assert abs(bad["mean"] - 0.2) < 1e-6


def find(source: Source) -> Iterator[Hit]:
    for size in source.calls("len"):
        up, given = source.parents[size], size.args[0] if size.args else None
        divides = isinstance(up, ast.BinOp | ast.AugAssign) and isinstance(up.op, ast.Div) and given is not None
        left = getattr(up, "left", getattr(up, "target", None)) if divides else None
        if not isinstance(left, ast.Name) or given is None:
            continue
        added = _added(source, left)
        batches = values.sure(source, given, "loader", weak=True)
        samples = isinstance(given, ast.Attribute) and given.attr == "dataset"
        code = source.code(given)
        if samples and added == {"mean"}:
            yield source.hit(
                up,
                f"`{left.id}` is a sum of batch means, and `len({code})` counts samples: add `loss.item() * x.size(0)`",
            )
        elif batches and added == {"weighted"}:
            yield source.hit(
                up,
                f"`{left.id}` is a sum over samples, and `len({code})` counts batches: divide by `len({code}.dataset)`",
            )


def _added(source: Source, name: ast.Name) -> set[str]:
    """What `name += ...` adds: "mean" for a loss of a batch, "weighted" for one times its size, "" for the rest."""
    home = tree.function(source, name)
    found = [one.value for one in source.all(ast.AugAssign) if isinstance(one.target, ast.Name) and one.target.id == name.id
             and isinstance(one.op, ast.Add) and tree.function(source, one) is home]  # fmt: skip
    return {_kind(source, value) for value in found}


def _kind(source: Source, value: ast.expr) -> str:
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        for one, other in ((value.left, value.right), (value.right, value.left)):
            if _kind(source, one) == "mean" and _SIZE.search(source.code(other)):
                return "weighted"
        return ""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "item":
        inner = value.func.value
        named = isinstance(inner, ast.Name) and re.search(r"(^|_)loss$", inner.id) is not None
        found = source.values(inner) if isinstance(inner, ast.Call) else ()
        named = named or (bool(found) and all(one.state == "loss" and one.shape == () for one in found))
        summed = any(one.name.rpartition(".")[2] == "sum" for one in source.values(inner))
        return "mean" if named and not summed and _means(source) else ""
    return ""


def _means(source: Source) -> bool:
    """Whether no loss in the file asks for another reduction."""
    asked = (
        tree.literal(one.value) for one in source.all(ast.keyword) if one.arg in ("reduction", "size_average", "reduce")
    )
    return all(one == "mean" for one in asked)
