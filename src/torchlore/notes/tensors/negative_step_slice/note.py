"""A tensor cannot be sliced backwards: x[::-1] raises, x.flip(0) is the word.

NumPy and lists take a negative step; torch raises `ValueError: step must be greater than zero`. Code that gets an
array in one place and a tensor in another fails on the second.

Write `x.flip(0)`, or `x.flip(-1)` to mirror images (N, C, H, W) left to right. It makes a copy, where NumPy's slice is
a view. Indexing with a reversed `arange` gives the same numbers for more typing; for images and boxes together use
`torchvision.transforms.v2.functional.horizontal_flip`.
"""

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import edits, tree, values
from torchlore.check.source import Hit, Source

ROWS = ("tensor-flip",)
SOURCES = ("003:116-120",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import torch

    from torchlore.recipes.tensors import flip

    assert bad["mirrored"] is None
    assert good["mirrored"] == [3.0, 2.0, 1.0, 0.0]
    x = torch.rand(2, 3, 4, 5, device=device)
    literal = x[:, :, :, torch.arange(x.size(3) - 1, -1, -1, device=device)]
    assert torch.equal(literal, x.flip(3))
    assert torch.equal(flip(x), x.flip(3))
    assert x.flip(3).data_ptr() != x.data_ptr()  # a copy


def find(source: Source) -> Iterator[Hit]:
    for node in source.all(ast.Slice):
        step = tree.literal(node.step) if node.step is not None else tree.UNKNOWN
        if not isinstance(step, int) or step >= 0:
            continue
        up = source.parents[node]
        dims: list[ast.expr] = up.elts if isinstance(up, ast.Tuple) else [node]
        subscript = source.parents[up] if isinstance(up, ast.Tuple) else up
        if not isinstance(subscript, ast.Subscript) or not _is_tensor(source, subscript.value):
            continue
        code = source.code(subscript.value)
        dim = _dimension(dims, node)
        plain = step == -1 and node.lower is None and node.upper is None and dim is not None and len(_slices(dims)) == 0
        write = f"{code}.flip({dim})" if plain else f"{code}.flip(dim)"
        edit = [edits.replace(source, subscript, write)] if plain else []
        yield source.hit(subscript, f"a tensor cannot be sliced backwards and raises here: write `{write}`", *edit)


def _is_tensor(source: Source, node: ast.expr) -> bool:
    listed = isinstance(node, ast.Call) and source.name(node.func) in {"tuple", "list", "sorted", "reversed"}
    return not listed and values.sure(source, node, "tensor")


def _slices(dims: list[ast.expr]) -> list[ast.expr]:
    """Places of the index that do more than pass a dimension through."""
    whole = (d for d in dims if isinstance(d, ast.Slice) and d.lower is d.upper is d.step is None)
    passing = {id(d) for d in whole} | {id(d) for d in dims if tree.literal(d) is Ellipsis}
    backwards = {id(d) for d in dims if isinstance(d, ast.Slice) and tree.literal(d.step) == -1}
    return [d for d in dims if id(d) not in passing | backwards]


def _dimension(dims: list[ast.expr], node: ast.expr) -> int | None:
    """Which dimension the slice stands for: counted from the front, or from the back after an ellipsis."""
    place = next(i for i, d in enumerate(dims) if d is node)
    dots = next((i for i, d in enumerate(dims) if tree.literal(d) is Ellipsis), None)
    backwards = [d for d in dims if isinstance(d, ast.Slice) and tree.literal(d.step) == -1]
    if len(backwards) > 1:
        return None
    return place if dots is None or place < dots else place - len(dims)
