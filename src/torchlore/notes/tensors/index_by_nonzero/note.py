"""x[torch.nonzero(x)] picks whole rows, not the elements that are not zero.

`nonzero` returns one row of coordinates for each element, (count, ndim). Used as an index, every number in it selects
along the first dimension: for a matrix the result has the shape (count, 2, columns). In one dimension there is a stray
dimension of size 1 that broadcasts later.

Index with the mask itself, `x[x != 0]`, or with a tuple, `x[torch.nonzero(x, as_tuple=True)]`. To count do not build
the list: `torch.count_nonzero(x)` or `(x == 0).sum()`; on a GPU `nonzero` also waits for the device, to learn how
large its result is. NaN counts as non-zero.
"""

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import follow, tree, values
from torchlore.check.source import Hit, Source

ROWS = ("tensor-nonzero",)
SOURCES = ("003:139-145",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import torch

    assert good["mean"] == 2.0
    assert bad["mean"] != good["mean"]
    assert bad["shape"] == (3, 2, 2)

    x = torch.tensor([[1.0, 0.0], [0.0, float("nan")]], device=device)
    assert torch.nonzero(x).tolist() == [[0, 0], [1, 1]]  # NaN is not zero
    assert torch.count_nonzero(x) == torch.nonzero(x).size(0) == 2
    assert (x == 0).sum() == torch.nonzero(x == 0).size(0) == 2
    assert torch.nonzero(torch.ones(3, device=device)).shape == (3, 1)


WORDS = ("nonzero|argwhere",)


def find(source: Source) -> Iterator[Hit]:
    for node in source.all(ast.Subscript):
        if isinstance(node.slice, ast.Call | ast.Name) and isinstance(node.ctx, ast.Load | ast.Store):
            call = _coordinates(source, node.slice)
            if call is None or not values.sure(source, node.value, "tensor"):
                continue
            shape = values.shape(source, node.value)
            if shape is None or len(shape) > 1:
                if (shape is None and _flattened(source, node)) or _fits(source, node):
                    continue
                code = source.code(node.value)
                mask = source.code(call.args[0] if call.args else tree.receiver(call))
                message = (
                    f"nonzero gives one row of coordinates an element, and as an index each of them picks a whole row "
                    f"of `{code}`: write `{code}[{mask} != 0]`, or nonzero(as_tuple=True)"
                )
                yield source.hit(node, message, severity=None if shape else "hint")


def _coordinates(source: Source, index: ast.expr) -> ast.Call | None:
    """The call of nonzero whose table of coordinates is used as an index."""
    node = follow.followed(source, index)
    if not isinstance(node, ast.Call):
        return None
    tuples = tree.keyword(node, "as_tuple")
    if follow.word(source, node) not in {"nonzero", "argwhere"} or not (
        tuples is None or tree.literal(tuples.value) is False
    ):
        return None
    if source.name(node.func) in {"torch.nonzero", "torch.argwhere"}:
        return node
    return node if follow.method(node) and values.sure(source, tree.receiver(node), "tensor") else None


def _fits(source: Source, node: ast.Subscript) -> bool:
    """`boxes[found] = labels[which[found], 1:]`: what is put in has the stray dimension too."""
    held, index = source.parents[node], source.code(node.slice)
    names = [n for n in ast.walk(held.value) if isinstance(n, ast.Name)] if isinstance(held, ast.Assign) else []
    given = [source.code(follow.followed(source, one)) for one in names]
    return isinstance(node.ctx, ast.Store) and any(index == one or f"[{index}]" in one for one in given)


def _flattened(source: Source, node: ast.Subscript) -> bool:
    """The author knows of the stray dimension of size 1 that is left over in one dimension, and takes it away."""
    taken = source.parents.get(node)
    return isinstance(taken, ast.Attribute) and taken.attr in {"squeeze", "squeeze_", "flatten", "view", "reshape"}
