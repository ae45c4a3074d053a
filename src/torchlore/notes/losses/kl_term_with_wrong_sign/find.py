"""The rule of kl-term-with-wrong-sign."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import api, follow, origin, terms, tree, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source
from torchlore.check.terms import Term

_WEIGHT = regex(r"beta|lam|weight|alpha|coe?f|gamma|(^|_)w(_|$)|scale|factor", re.IGNORECASE)
WORDS = ("exp",)


def find(source: Source) -> Iterator[Hit]:
    if "exp(" not in source.text or not any((*source.methods("exp"), *source.calls("torch.exp"))):
        return
    seen: set[ast.AST] = set()
    totals: list[ast.expr] = [
        one.value for one in source.all(ast.Return) if isinstance(one.value, ast.BinOp | ast.Name)
    ]
    backs = (one.value for one in source.all(ast.Return) if isinstance(one.value, ast.Dict))
    totals += [one for back in backs for one in back.values if isinstance(one, ast.BinOp | ast.Name)]
    totals += [origin.loss_behind(source, tree.receiver(call)) for call in source.methods("backward")]
    for total in totals:
        parts = list(_terms(source, total))
        wrong = _turned(source, parts)
        if wrong is not None and wrong not in seen and any(sign > 0 and _is_loss(source, one) for one, sign in parts):
            seen.add(wrong)
            yield _hit(source, wrong, total)


def _hit(source: Source, wrong: ast.expr, total: ast.expr) -> Hit:
    """On the term itself, or on the sum where the term has its minus and is taken away."""
    made = getattr(tree.statement(source, wrong), "value", None)
    made = made.elts[0] if isinstance(made, ast.Tuple) and len(made.elts) == 1 else made
    if isinstance(made, ast.expr) and _turned(source, list(_terms(source, made, hops=0))) is None:
        whole = follow.followed(source, total)
        if not tree.inside(source, wrong, whole):
            return source.hit(whole, "the KL divergence is taken away here and has its minus already: add it")
    told = "this is minus the KL divergence, and the loss falls as it grows: write `-0.5 * (1 + logvar - mu**2 - logvar.exp())`"
    return source.hit(wrong, told)


def _terms(source: Source, node: ast.expr, sign: int = 1, hops: int = 4) -> Iterator[Term]:
    """The summands with their signs; a factor that is no tensor, such as `beta`, is taken to be positive."""
    for one, turned in terms.terms(source, node, sign):
        inner = _scaled(source, one) if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mult | ast.Div) else None
        if inner is None and isinstance(one, ast.Name | ast.Call) and hops:
            home, made = origin.origin(source, one)  # `rec, kld = terms(...)`, `loss + kl(mu, logvar)`
            inner = made if home is source and made is not one and isinstance(made, ast.BinOp | ast.Call) else None
        yield from _terms(source, inner, turned, hops - 1) if inner is not None and hops else [(one, turned)]


def _scaled(source: Source, node: ast.BinOp) -> ast.expr | None:
    plain = [one for one in (node.left, node.right) if isinstance(one, ast.Name | ast.Attribute)]
    factors = [one for one in plain if not values.maybe(source, one, "tensor", weak=False)]
    if len(factors) == 2:
        factors = [one for one in factors if _WEIGHT.search(tree.dotted(one).rpartition(".")[2])]
    if len(factors) != 1 or (factors[0] is node.left and isinstance(node.op, ast.Div)):
        return None
    return node.right if factors[0] is node.left else node.left


def _turned(source: Source, parts: list[Term]) -> ast.expr | None:
    """`exp(logvar)` with a minus, beside `logvar` with a plus and a square with a minus."""
    square = any(sign < 0 and _is_square(source, one) for one, sign in parts)
    for one, sign in parts:
        given = _exponent(source, one)
        if given and sign < 0 and square and any(turned > 0 and source.code(other) == given for other, turned in parts):
            return one
    return None


def _exponent(source: Source, node: ast.expr) -> str:
    if not isinstance(node, ast.Call):
        return ""
    if source.name(node.func) == "torch.exp" and node.args:
        return source.code(node.args[0])
    return source.code(tree.receiver(node)) if follow.method(node) == "exp" and not source.name(node.func) else ""


def _is_square(source: Source, node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        power = isinstance(node.op, ast.Pow) and tree.literal(node.right) == 2
        return power or (isinstance(node.op, ast.Mult) and source.code(node.left) == source.code(node.right))
    if not isinstance(node, ast.Call):
        return False
    squared = source.name(node.func) == "torch.square" or follow.method(node) == "square"
    return squared or (follow.method(node) == "pow" and bool(node.args) and tree.literal(node.args[-1]) == 2)


def _is_loss(source: Source, node: ast.expr) -> bool:
    """A loss of torch, or a square of a difference."""
    power = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)
    base = (
        node.left
        if isinstance(node, ast.BinOp) and power
        else tree.receiver(node)
        if isinstance(node, ast.Call) and follow.method(node) in ("pow", "square")
        else None
    )
    if isinstance(base, ast.BinOp) and isinstance(base.op, ast.Sub):
        return True
    known = isinstance(node, ast.Call) and source.name(node.func) in api.LOSS_FUNCTIONS
    return known or any(value.state == "loss" for value in values.values(source, node))
