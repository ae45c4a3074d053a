"""The static rule of pairwise-distance-by-broadcast."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, tensors, tree, values
from torchlore.check.source import Hit, Source

WORDS = ("sum", "unsqueeze|None")


def find(source: Source) -> Iterator[Hit]:
    for root, inner in _roots(source):
        if _differences(source, _summed(source, inner)):
            message = (
                f"`{source.code(root)}` stores the difference of every pair, and its gradient is NaN where a distance is "
                "0: write `torch.cdist(a, b)`"
            )
            yield source.hit(root, message, severity=None if _learned(source, root) else "hint")


def _learned(source: Source, root: ast.expr) -> bool:
    """Whether a gradient is wanted: the file takes a backward pass, or a loss is made here."""
    home = tree.function(source, root)
    owner = tree.class_of(source, root)
    named = f"{getattr(home, 'name', '')} {getattr(owner, 'name', '')}".lower()
    told = "loss" in named or ".backward(" in source.text
    return told and not tensors.no_grad_around(source, root)


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
    arrays = any(values.maybe(source, side, "ndarray") for side in sides)
    return not arrays and any(_widened(follow.followed(source, side)) for side in sides)


def _widened(node: ast.expr) -> bool:
    """A new dimension behind the first: `b[None, None]` in front stretches one row over a grid, and makes no pairs."""
    if isinstance(node, ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        new = [isinstance(part, ast.Constant) and part.value is None for part in parts]
        return any(new[new.index(False) :]) if False in new else False
    if not isinstance(node, ast.Call) or follow.method(node) != "unsqueeze":
        return False
    dim = tree.argument(node, len(node.args) - 1, "dim")
    return dim is None or bool(tree.literal(dim) != 0)
