"""Loops that pull one net's weights towards another's: moving averages, target nets."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from torchlore.check import follow, scopes, tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlore.check.source import Source

_WAYS = {"parameters", "named_parameters"}


class Average(NamedTuple):
    """`for a, p in zip(average.parameters(), model.parameters()): ...`."""

    loop: ast.For
    average: ast.expr
    model: ast.expr
    update: ast.stmt  # the statement that moves `a`
    share: float | None  # of the model's weights in each update, where it can be told


def averages(source: Source) -> Iterator[Average]:
    """The loops of a file that move the weights of one net a little towards another's, each with its share."""
    for loop in source.all(ast.For):
        call, target = loop.iter, loop.target
        if not isinstance(call, ast.Call) or source.name(call.func) != "zip" or len(call.args) != 2:
            continue
        nets = [_owner(arg) for arg in call.args]
        names = [_last(one) for one in target.elts] if isinstance(target, ast.Tuple) and len(target.elts) == 2 else []
        if None in nets or len(names) != 2 or not all(names) or nets[0] is None or nets[1] is None:
            continue
        for statement in loop.body:
            moved = _moved(statement)
            if moved in names:
                other = names[1 - names.index(moved)]
                share = _share(source, statement, moved, other)
                if other in _names(statement):
                    first = names.index(moved)
                    yield Average(loop, nets[first], nets[1 - first] or nets[first], statement, share)  # type: ignore[arg-type]  # neither is None


def _owner(node: ast.expr) -> ast.expr | None:
    """`model` of `model.parameters()`."""
    return tree.receiver(node) if isinstance(node, ast.Call) and follow.method(node) in _WAYS else None


def _last(node: ast.expr) -> str:
    """`p` of `p` and of `(name, p)`."""
    inner = node.elts[-1] if isinstance(node, ast.Tuple) and node.elts else node
    return inner.id if isinstance(inner, ast.Name) else ""


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _moved(statement: ast.stmt) -> str:
    """`a` of `a.data = ...`, `a.mul_(d).add_(...)`, `a.data.copy_(...)`, `a.lerp_(...)`."""
    node: ast.AST | None = None
    if isinstance(statement, ast.Assign):
        node = statement.targets[0]
    elif isinstance(statement, ast.Expr):
        node = statement.value
    while isinstance(node, ast.Call | ast.Attribute):
        node = tree.receiver(node) if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _share(source: Source, statement: ast.stmt, moved: str, other: str) -> float | None:
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and follow.method(node) == "lerp_" and len(node.args) == 2:
            return number(source, node.args[1])
        if (
            isinstance(node, ast.Call)
            and follow.method(node) == "add_"
            and node.args
            and _is_alone(node.args[0], other)
        ):
            alpha = tree.argument(node, None, "alpha")
            return number(source, alpha) if alpha is not None else None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            for one, factor in ((node.left, node.right), (node.right, node.left)):
                if _is_alone(one, other) and moved not in _names(factor):
                    return number(source, factor)
    return None


def _is_alone(node: ast.expr, name: str) -> bool:
    """`p`, `p.data`, `p.detach()`."""
    while isinstance(node, ast.Call | ast.Attribute):
        node = (
            tree.receiver(node)
            if isinstance(node, ast.Call) and not node.args
            else getattr(node, "value", ast.Constant(0))
        )
    return isinstance(node, ast.Name) and node.id == name


def number(source: Source, node: ast.expr, hops: int = 12) -> float | None:
    """A number as it stands, `1 - decay` with a known decay, a parameter's default; None where it cannot be told."""
    value = tree.literal(node)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        left, right = number(source, node.left, hops), number(source, node.right, hops)
        return None if left is None or right is None else left - right
    if isinstance(node, ast.Name) and hops:
        bound = follow.binding(source, node)
        return number(source, bound, hops - 1) if bound is not None else _default(source, node)
    return None


def _default(source: Source, name: ast.Name) -> float | None:
    home, found = tree.function(source, name), scopes.reaching(source, name)
    if home is None or len(found) != 1 or found[0].how != "parameter":
        return None
    pairs = zip([*home.args.posonlyargs, *home.args.args][::-1], home.args.defaults[::-1], strict=False)
    return next((number(source, value) for arg, value in pairs if arg.arg == name.id), None)
