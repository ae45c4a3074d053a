"""Loops that pull one net's weights towards another's: moving averages, target nets."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

from torchlore.check import calls, classes, follow, project, scopes, tree, uses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlore.check.source import Source

_WAYS = ("parameters", "named_parameters")


class Average(NamedTuple):
    """`for a, p in zip(average.parameters(), model.parameters()): ...`."""

    loop: ast.For
    average: ast.expr
    model: ast.expr
    update: ast.stmt  # the statement that moves `a`
    takes: ast.expr | None  # what the model's weights are multiplied by, whose `number` is their share in each update


def averages(source: Source, ways: tuple[str, ...] = _WAYS) -> Iterator[Average]:
    """The loops of a file that move the weights of one net a little towards another's, each with its share."""
    for call in source.calls("zip"):
        loop = source.parents[call]
        if not isinstance(loop, ast.For) or loop.iter is not call or len(call.args) != 2:
            continue
        nets, target = [_owner(arg, ways) for arg in call.args], loop.target
        names = [_last(one) for one in target.elts] if isinstance(target, ast.Tuple) and len(target.elts) == 2 else []
        if None in nets or len(names) != 2 or not all(names) or nets[0] is None or nets[1] is None:
            continue
        also = _also_named(loop.body, names)
        for statement in _statements(loop):
            moved = _moved(statement)
            if moved in names:
                other = names[1 - names.index(moved)]
                if also[other] & _names(statement):
                    first, takes = names.index(moved), _takes(statement, also[moved], also[other])
                    yield Average(loop, nets[first], nets[1 - first] or nets[first], statement, takes)  # type: ignore[arg-type]  # neither is None


def _statements(loop: ast.For) -> Iterator[ast.stmt]:
    """The statements of a loop, those under an `if` too."""
    for one in loop.body:
        yield from (*one.body, *one.orelse) if isinstance(one, ast.If) else (one,)


def _owner(node: ast.expr, ways: tuple[str, ...]) -> ast.expr | None:
    """`model` of `model.parameters()`."""
    return tree.receiver(node) if isinstance(node, ast.Call) and follow.method(node) in ways else None


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


def _also_named(body: list[ast.stmt], names: list[str]) -> dict[str, set[str]]:
    """The names of each of the two: `old, new = a.data, p.data` gives both another one."""
    also = {name: {name} for name in names}
    for one in body:
        if not isinstance(one, ast.Assign):
            continue
        target, value = one.targets[0], one.value
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            pairs = list(zip(target.elts, value.elts, strict=True))
        for left, right in pairs:
            for name in names:
                if isinstance(left, ast.Name) and _is_alone(right, {name}):
                    also[name].add(left.id)
    return also


def _takes(statement: ast.stmt, moved: set[str], other: set[str]) -> ast.expr | None:
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and follow.method(node) == "lerp_" and len(node.args) == 2:
            return node.args[1]
        if (
            isinstance(node, ast.Call)
            and follow.method(node) == "add_"
            and node.args
            and _is_alone(node.args[0], other)
        ):
            return tree.argument(node, None, "alpha")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            for one, factor in ((node.left, node.right), (node.right, node.left)):
                if _is_alone(one, other) and not moved & _names(factor):
                    return factor
    return None


def _is_alone(node: ast.expr, names: set[str]) -> bool:
    """`p`, `p.data`, `p.detach()`."""
    while isinstance(node, ast.Call | ast.Attribute):
        node = (
            tree.receiver(node)
            if isinstance(node, ast.Call) and not node.args
            else getattr(node, "value", ast.Constant(0))
        )
    return isinstance(node, ast.Name) and node.id in names


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
        return number(source, bound, hops - 1) if bound is not None else _default(source, node, hops - 1)
    if isinstance(node, ast.Attribute) and tree.dotted(node.value) == "self" and hops:
        owner = project.enclosing_class(source, node)
        found = classes.assigned(owner, node.attr) if owner is not None else []
        kept = found[0].value if len(found) == 1 else None
        if kept is not None and found[0].path:
            at = found[0].path[0]
            kept = (
                kept.elts[at]
                if isinstance(kept, ast.Tuple) and len(found[0].path) == 1 and at < len(kept.elts)
                else None
            )
        return number(found[0].source, kept, hops - 1) if kept is not None else None
    return None


def _default(source: Source, name: ast.Name, hops: int) -> float | None:
    """What the callers give a parameter where they agree, else its default."""
    home, found = tree.function(source, name), scopes.reaching(source, name)
    if home is None or len(found) != 1 or found[0].how != "parameter":
        return None
    arg = next((one for one in tree.parameters(home) if one.arg == name.id), None)
    function = project.as_function(source, home)
    given = [
        (other, value)
        for other, call, skip in (calls.callers(function) if arg is not None else ())
        if (value := calls.given_argument(function, call, arg, skip)) is not None  # type: ignore[arg-type]  # see above
    ]
    if given and hops:
        told = {number(other, value, hops - 1) for other, value in given}
        return told.pop() if len(told) == 1 else None
    pairs = zip([*home.args.posonlyargs, *home.args.args][::-1], home.args.defaults[::-1], strict=False)
    return next((number(source, value) for one, value in pairs if one.arg == name.id), None)


class Mix(NamedTuple):
    """`ema = decay * ema + (1 - decay) * new`, by assignment, `copy_`, or `mul_` and `add_`."""

    average: ast.expr
    update: ast.stmt
    takes: ast.expr  # what the new is multiplied by, whose `number` is its share in each update


def mixes(source: Source) -> Iterator[Mix]:
    """The statements of a file that move something towards something else by two shares that add up to one."""
    for average, node, statement in _written(source):
        if not _is(node, ast.Add) or not _is(node.left, ast.Mult) or not _is(node.right, ast.Mult):
            continue
        parts = [_factor(side, average) for side in (node.left, node.right)]
        if None in parts or parts[0][0] is parts[1][0]:  # type: ignore[index]  # None is excluded
            continue
        keeps, takes = (part[1] for part in sorted(parts, key=lambda part: not part[0]))  # type: ignore[index]  # see above
        if _complement(keeps, takes) or _complement(takes, keeps):
            yield Mix(average, statement, takes)
    yield from _in_place(source)


def _in_place(source: Source) -> Iterator[Mix]:
    """`old.mul_(decay).add_(new, alpha=1 - decay)`, in one line or in two, and `old.lerp_(new, 1 - decay)`."""
    for call in source.methods("add_"):
        takes = tree.argument(call, None, "alpha") or _share_of(call.args[0] if len(call.args) == 1 else None)
        if takes is None or not tree.is_statement(source, call):
            continue
        inner = tree.receiver(call)
        scaled = inner if isinstance(inner, ast.Call) and follow.method(inner) == "mul_" else _line_before(source, call)
        keeps = scaled.args[0] if scaled is not None and len(scaled.args) == 1 else None
        if scaled is not None and keeps is not None and (_complement(keeps, takes) or _complement(takes, keeps)):
            yield Mix(tree.receiver(scaled), tree.statement(source, call), takes)
    for call in source.methods("lerp_"):
        if len(call.args) == 2 and tree.is_statement(source, call):
            yield Mix(tree.receiver(call), tree.statement(source, call), call.args[1])


def _share_of(node: ast.expr | None) -> ast.expr | None:
    """`1 - decay` of `(1 - decay) * new`."""
    if node is None or not _is(node, ast.Mult):
        return None
    return next((side for side in (node.left, node.right) if _is_share(side)), None)


def _line_before(source: Source, call: ast.Call) -> ast.Call | None:
    """`old.mul_(decay)` on the line before `old.add_(...)`."""
    statement, name = tree.statement(source, call), ast.unparse(tree.receiver(call))
    held = source.parents.get(statement)
    block = next((one for one in (getattr(held, "body", []), getattr(held, "orelse", [])) if statement in one), [])
    at = block.index(statement) if block else 0
    before = block[at - 1].value if at and isinstance(block[at - 1], ast.Expr) else None
    same = isinstance(before, ast.Call) and follow.method(before) == "mul_"
    return before if same and isinstance(before, ast.Call) and ast.unparse(tree.receiver(before)) == name else None


def _written(source: Source) -> Iterator[tuple[ast.expr, ast.expr, ast.stmt]]:
    """`ema` and `a + b` of `ema = a + b`, `ema.data = a + b`, `shadow[k] = a + b`, `ema.copy_(a + b)`, each with its statement."""
    for held in uses.assigns(source, None, ast.BinOp):
        if len(held.targets) == 1:
            yield held.targets[0], held.value, held
    for call in source.methods("copy_"):
        if call.args and tree.is_statement(source, call):
            yield tree.receiver(call), call.args[0], tree.statement(source, call)


def _is(node: ast.expr, operator: type[ast.operator]) -> TypeGuard[ast.BinOp]:
    """Whether it is a sum, a product."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, operator)


def _factor(node: ast.BinOp, average: ast.expr) -> tuple[bool, ast.expr] | None:
    """Whether a product is of the average itself, and what that is multiplied by."""
    own = ast.unparse(_plain(average))
    for one, other in ((node.left, node.right), (node.right, node.left)):
        if ast.unparse(_plain(one)) == own:
            return True, other
    numbers = [side for side in (node.left, node.right) if _is_share(side)]
    return (False, numbers[0]) if numbers else None


def _is_share(node: ast.expr) -> bool:
    """A name, `self.decay`, a number or `1 - decay`."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Sub) and tree.literal(node.left) == 1
    named = tree.dotted(node).rpartition(".")[2].lower()
    return tree.literal(node) is not tree.UNKNOWN or any(
        word in named for word in ("decay", "momentum", "alpha", "beta", "tau", "rate", "mu")
    )


def _plain(node: ast.expr) -> ast.expr:
    """The thing itself of `x.data`, `x.detach()`."""
    while True:
        if isinstance(node, ast.Attribute) and node.attr == "data":
            node = node.value
        elif isinstance(node, ast.Call) and follow.method(node) in ("detach", "clone") and not node.args:
            node = tree.receiver(node)
        else:
            return node


def _complement(one: ast.expr, other: ast.expr) -> bool:
    """Whether one is written as `1 - other`, or the two are numbers that add up to one."""
    if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Sub) and tree.literal(one.left) == 1:
        return ast.unparse(one.right) == ast.unparse(other)
    first, second = tree.literal(one), tree.literal(other)
    return isinstance(first, float) and isinstance(second, float) and abs(first + second - 1) < 1e-9
