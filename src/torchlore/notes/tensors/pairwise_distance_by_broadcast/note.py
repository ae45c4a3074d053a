"""Distances by sqrt(sum((a[:, None] - b) ** 2)) cost a cube of memory and give NaN gradients at zero.

The difference of every pair is stored before it is summed: 2000 points against 2000 in 512 dimensions are 7.6 GiB for
16 MB of answer. And the slope of the square root at 0 is infinite: one point compared with itself, or two equal
points, and its gradient is NaN, which the next step writes into every weight.

`torch.cdist(a, b)` needs no cube and has no NaN. For more than 25 points it multiplies matrices, which is fast and
loses digits when the points lie far from the origin: the distance of a point to itself came out as 0.7 instead of 0
for data around 1000. Subtract the mean first, or ask for
`compute_mode="donot_use_mm_for_euclid_dist"`. `torchlore.recipes.tensors.pairwise_euclidean` does either, and `nearest`
finds the closest rows without the whole table. If you need the formula, put a small number under the root.
"""

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import follow, tree
from torchlore.check.source import Hit, Source

ROWS = ("tensor-euclid",)
SOURCES = ("003:167-171",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import torch

    from torchlore.recipes.tensors import pairwise_euclidean

    assert bad["nan_weights"] > 0  # one step was enough
    assert good["nan_weights"] == 0

    a, b = torch.rand(30, 4, device=device), torch.rand(40, 4, device=device)
    literal = torch.sqrt(torch.sum((a[:, None, :] - b) ** 2, dim=2))
    torch.testing.assert_close(literal, torch.cdist(a, b), atol=1e-3, rtol=1e-3)
    torch.testing.assert_close(literal, pairwise_euclidean(a, b))
    far = torch.rand(64, 3, device=device) + 1000
    exact = torch.cdist(far, far, compute_mode="donot_use_mm_for_euclid_dist")
    quick = torch.cdist(far, far, compute_mode="use_mm_for_euclid_dist")
    centred = torch.cdist(far - far.mean(0), far - far.mean(0), compute_mode="use_mm_for_euclid_dist")
    assert exact.diagonal().max() == 0
    assert quick.diagonal().max() > 0.1
    assert centred.diagonal().max() < 0.01
    assert pairwise_euclidean(far, far).diagonal().max() == 0


def find(source: Source) -> Iterator[Hit]:
    for root, inner in _roots(source):
        if _differences(source, _summed(source, inner)):
            message = (
                f"`{source.code(root)}` stores the difference of every pair, and its gradient is NaN where a distance is "
                "0: write `torch.cdist(a, b)`"
            )
            yield source.hit(root, message)


def _roots(source: Source) -> Iterator[tuple[ast.expr, ast.expr]]:
    for call in source.methods("sqrt"):
        if source.name(call.func) == "torch.sqrt" and call.args:
            yield call, call.args[0]
        elif not source.name(call.func):
            yield call, tree.receiver(call)
    for power in source.all(ast.BinOp):
        if isinstance(power.op, ast.Pow) and tree.literal(power.right) == 0.5:
            yield power, power.left


def _summed(source: Source, node: ast.expr) -> ast.expr | None:
    """The squares inside `torch.sum(squares, dim)` or `squares.sum(dim)`."""
    call = follow.followed(source, node)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "sum":
        return None
    return (call.args[0] if call.args else None) if source.name(call.func) == "torch.sum" else call.func.value


def _differences(source: Source, node: ast.expr | None) -> bool:
    """`(a[:, None] - b) ** 2`, however the square and the new dimension are written."""
    square = follow.followed(source, node) if node is not None else None
    if isinstance(square, ast.BinOp) and isinstance(square.op, ast.Pow) and tree.literal(square.right) == 2:
        base = square.left
    elif (
        isinstance(square, ast.Call)
        and isinstance(square.func, ast.Attribute)
        and square.func.attr in {"pow", "square"}
    ):
        base = square.args[0] if source.name(square.func) and square.args else square.func.value
    else:
        return False
    base = follow.followed(source, base)
    sides = (base.left, base.right) if isinstance(base, ast.BinOp) and isinstance(base.op, ast.Sub) else ()
    return any(_widened(follow.followed(source, side)) for side in sides)


def _widened(node: ast.expr) -> bool:
    if isinstance(node, ast.Subscript):
        return any(isinstance(part, ast.Constant) and part.value is None for part in ast.walk(node.slice))
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "unsqueeze"
