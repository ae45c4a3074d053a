"""The rule of dice-sums-raw-scores."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, scopes, tree
from torchlore.check.source import Hit, Source

_SHAPES = ("flatten", "view", "reshape", "float", "contiguous")


def find(source: Source) -> Iterator[Hit]:
    if "sigmoid(" not in source.text or "sum(" not in source.text:
        return
    for whole in source.all(ast.BinOp):
        home = tree.function(source, whole)
        if not isinstance(whole.op, ast.Add) or home is None:
            continue
        raw, other = _summed(whole.left), _summed(whole.right)
        if raw is None or other is None or raw.id == other.id:
            continue
        if _overlaps(source, home, raw, other) and _divides(source, whole):
            told = f"`{raw.id}` holds raw scores here, while the overlap has their sigmoid: write `{raw.id}.sigmoid()` in this sum too"
            yield source.hit(whole, told)


def _summed(node: ast.expr) -> ast.Name | None:
    """`x` of `x.sum()` and `x.flatten(1).sum(-1)`."""
    inner = tree.receiver(node) if isinstance(node, ast.Call) and follow.method(node) == "sum" else None
    while isinstance(inner, ast.Call) and follow.method(inner) in _SHAPES and isinstance(inner.func, ast.Attribute):
        inner = inner.func.value
    return inner if isinstance(inner, ast.Name) else None


def _overlaps(source: Source, home: tree.FunctionNode, raw: ast.Name, mask: ast.Name) -> bool:
    """`sigmoid(raw) * mask` in the same function, of the same `raw`."""
    same = scopes.reaching(source, raw)
    for one in tree.under(source, home, ast.BinOp):
        sides = (one.left, one.right) if isinstance(one.op, ast.Mult) else ()
        squashed = [side for side in sides if isinstance(side, ast.Call) and follow.method(side) == "sigmoid"]
        given = [side.args[0] if side.args else tree.receiver(side) for side in squashed]
        taken = [name for name in given if isinstance(name, ast.Name) and name.id == raw.id]
        if taken and any(tree.dotted(side) == mask.id for side in sides) and scopes.reaching(source, taken[0]) == same:
            return True
    return False


def _divides(source: Source, whole: ast.BinOp) -> bool:
    """Whether the sum, or the name it gets, stands under a line."""
    outer: ast.AST = whole
    while isinstance(source.parents[outer], ast.BinOp):
        up = source.parents[outer]
        if isinstance(up, ast.BinOp) and isinstance(up.op, ast.Div) and up.right is outer:
            return True
        outer = up
    held = source.parents[outer]
    name = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""
    home = tree.function(source, whole)
    lines = tree.under(source, home, ast.BinOp) if home is not None and name else []
    below = (one.right for one in lines if isinstance(one.op, ast.Div))
    return any(isinstance(part, ast.Name) and part.id == name for one in below for part in ast.walk(one))
