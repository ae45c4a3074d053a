"""What a loss is made of: its terms with their signs, and the calls whose graph it carries."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlore.check import classes, flow, scopes, tensors, tree
from torchlore.check.project import enclosing_class
from torchlore.check.walk import children

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlore.check.source import Source

_WHOLE = {"mean", "sum", "to", "float", "cuda", "squeeze", "view", "flatten", "reshape"}
_CUTS = {
    "detach",
    "detach_",
    "item",
    "tolist",
    "numpy",
    "argmax",
    "argmin",
    "size",
    "backward",
    "sample",
    "multinomial",
    "long",
    "int",
}
_FRESH = {"torch.tensor", "torch.as_tensor", "torch.from_numpy", "torch.zeros_like", "torch.ones_like", "torch.rand_like",
          "torch.randn_like", "torch.full_like", "torch.argmax", "torch.multinomial", "float", "int", "len", "torch.Tensor"}  # fmt: skip
_PAIRS = {"max", "min", "topk", "sort", "median"}
_INDEXES = {"gather", "index_select", "take_along_dim"}
_HOPS, _STEPS = 12, 300  # how deep a loss is followed, and how many expressions of it are looked at
Term = tuple[ast.expr, int]  # an expression, and 1 or -1


def terms(source: Source, node: ast.expr, sign: int = 1) -> Iterator[Term]:
    """The summands of an expression with their signs, through names, means, sums and constant factors."""
    return _terms(source, node, sign, _HOPS, [_STEPS])


def _terms(source: Source, node: ast.expr, sign: int, hops: int, left: list[int]) -> Iterator[Term]:
    """`left` holds how many questions are left: names that feed each other would be asked by every way to them."""
    left[0] -= 1
    if hops <= 0 or left[0] <= 0:
        yield node, sign
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield from _terms(source, node.operand, -sign, hops - 1, left)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        other = -sign if isinstance(node.op, ast.Sub) else sign
        yield from _terms(source, node.left, sign, hops - 1, left)
        yield from _terms(source, node.right, other, hops - 1, left)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div) and _scaled(node) is not None:
        inner, flip = _scaled(node) or (node, 1)
        yield from _terms(source, inner, sign * flip, hops - 1, left)
    elif isinstance(node, ast.Call) and (whole := _averaged(source, node)) is not None:
        yield from _terms(source, whole, sign, hops - 1, left)
    elif isinstance(node, ast.Name) and (bound := _bound(source, node)):
        for value, flip in bound if left[0] > 0 else ():
            yield from _terms(source, value, sign * flip, hops - 1, left)
    elif isinstance(node, ast.Attribute) and (own := own_value(source, node)) is not None:
        yield from _terms(source, own, sign, hops - 2, left)
    else:
        yield node, sign


def _scaled(node: ast.BinOp) -> Term | None:
    """The factor that is no number, and the sign of the one that is."""
    for one, other in ((node.left, node.right), (node.right, node.left)):
        number = tree.literal(other)
        if isinstance(number, int | float) and not isinstance(number, bool):
            return (one, -1 if number < 0 else 1) if isinstance(node.op, ast.Mult) or other is node.right else None
    counted = isinstance(node.op, ast.Div) and (_is_sum(node.left) or _is_count(node.right))
    return (node.left, 1) if counted else None  # by a count or a weight


def _is_count(node: ast.expr) -> bool:
    """`len(x)`, `x.size(0)`, `x.shape[0]`, `x.numel()`."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
    return isinstance(node, ast.Call) and tree.dotted(node.func).rpartition(".")[2] in ("len", "size", "numel")


def _is_sum(node: ast.expr) -> bool:
    """`a + b`, also times a number."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div) and (inner := _scaled(node)):
        return _is_sum(inner[0])
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub)


def _averaged(source: Source, call: ast.Call) -> ast.expr | None:
    if source.name(call.func) in ("torch.mean", "torch.sum"):
        return call.args[0] if call.args else None
    method = isinstance(call.func, ast.Attribute) and call.func.attr in _WHOLE and not source.name(call.func)
    return tree.receiver(call) if method else None


def _bound(source: Source, name: ast.Name) -> list[Term]:
    """What the name stands for: one plain assignment, or one with what `+=` and `-=` add to it."""
    found: list[Term] = []
    for one in scopes.reaching(source, name):
        if one.value is None or one.path or one.how not in ("assign", "aug"):
            return []
        taken = isinstance(getattr(one.statement, "op", None), ast.Sub)
        found.append((one.value, -1 if one.how == "aug" and taken else 1))
        if one.how == "aug" and isinstance(one.node, ast.Name):
            for before in scopes.reaching(source, one.node):
                plain = before.how == "assign" and before.value is not None and not before.path
                found += [(before.value, 1)] if plain and before.value is not None else []
    return list(dict.fromkeys(found))


def is_whole_product(source: Source, node: ast.BinOp) -> bool:
    """A product that is no factor of a longer one."""
    up = source.parents[node]
    return isinstance(node.op, ast.Mult) and not (isinstance(up, ast.BinOp) and isinstance(up.op, ast.Mult))


def factors(node: ast.expr) -> list[ast.expr]:
    """`a`, `b` and `c` of `-a * b * c`."""
    if isinstance(node, ast.UnaryOp):
        return factors(node.operand)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return [*factors(node.left), *factors(node.right)]
    return [node]


def reached(source: Source, node: ast.AST) -> Iterator[ast.Call]:
    """The calls whose results come into an expression with their graph: not through detach, no_grad or a new tensor."""
    yield from _reached(source, node, 8, {})


def _reached(source: Source, node: ast.AST, hops: int, asked: dict[ast.AST, int]) -> Iterator[ast.Call]:
    """A value is asked again only where more hops are left: names that feed each other would be asked without end."""
    if isinstance(node, ast.Name):
        for one in scopes.reaching(source, node) if hops else ():
            value = scopes.part(one) if one.how in ("assign", "aug") else None
            places = one.path == (1,) and value is not None and _tail(value) in _PAIRS  # `_, place = x.max(1)`
            if value is not None and not places and asked.get(value, -1) < hops:
                asked[value] = hops
                yield from _reached(source, value, hops - 1, asked)
        return
    if isinstance(node, ast.Attribute) and node.attr in ("data", "shape", "grad", "indices"):
        return
    if isinstance(node, ast.Attribute) and hops > 1 and (own := own_value(source, node)) is not None:
        if asked.get(own, -1) < hops:
            asked[own] = hops
            yield from _reached(source, own, hops - 2, asked)
        return
    if isinstance(node, ast.Subscript) and tree.literal(node.slice) == 1 and _tail(node.value) in _PAIRS:
        return  # `x.max(1)[1]` is an index
    if isinstance(node, ast.Call):
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if _is_cut(source, node, method) or source.name(node.func) in _FRESH or tensors.no_grad_around(source, node):
            return
        yield node
        if method in _INDEXES:
            yield from _reached(source, tree.receiver(node), hops, asked)
            return
    for child in children(node):
        if not isinstance(child, ast.Lambda | ast.Compare):
            yield from _reached(source, child, hops, asked)


def _is_cut(source: Source, call: ast.Call, method: str) -> bool:
    """Whether no graph comes out of this method; `self.sample(state)` of the project may draw by a reparameterisation."""
    return method in _CUTS and not (method == "sample" and flow.called(source, call) is not None)


def own_value(source: Source, node: ast.Attribute) -> ast.expr | None:
    """What `self.fake` stands for: the last assignment before it in its method, else the only one outside `__init__`."""
    if not (isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name) and node.value.id == "self"):
        return None
    cls, home = enclosing_class(source, node), tree.function(source, node)
    found = [one for one in classes.assigned(cls, node.attr) if one.method != "__init__"] if cls is not None else []
    plain = [one for one in found if one.how == "assign" and not one.path and one.source is source]
    if len(plain) != len(found):
        return None
    here = [one for one in plain if tree.function(source, one.node) is home and one.node.lineno < node.lineno]  # type: ignore[attr-defined]  # a target has a line
    chosen = here[-1:] or (plain if len(plain) == 1 else [])
    return chosen[0].value if chosen and not tree.inside(source, node, tree.statement(source, chosen[0].node)) else None


def _tail(call: ast.expr) -> str:
    """`max` of `x.max(1)` and of `torch.max(x, 1)`."""
    return call.func.attr if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else ""
