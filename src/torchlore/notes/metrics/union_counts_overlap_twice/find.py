"""The rule of union-counts-overlap-twice."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, tree
from torchlore.check.source import Hit, Source

_DOUBLED = re.compile(r"\b2(?:\.0?)?\s*\*|\*\s*(?:2|0?\.5)\b|\b0?\.5\s*\*|/ ?2\b")
_ANDS = {"torch.logical_and", "numpy.logical_and", "torch.mul", "torch.multiply"}
_SUMS = {"torch.sum", "numpy.sum"}
WORDS = ("sum",)


def find(source: Source) -> Iterator[Hit]:
    for ratio in source.all(ast.BinOp) if "sum(" in source.text else ():
        if not isinstance(ratio.op, ast.Div):
            continue
        above, below = _terms(source, ratio.left), _terms(source, ratio.right)
        pairs = [pair for one in above if (pair := _overlap(source, one)) is not None] if len(below) > 1 else []
        sizes = {code for one in below if (code := _summed(source, one))}
        home = tree.function(source, ratio)
        around = source.code(home) if home is not None else source.code(tree.statement(source, ratio))
        if len(pairs) == 1 and pairs[0] == sizes and len(sizes) == 2 and not _DOUBLED.search(around):
            told = "adds up both sizes, which counts the overlap twice, so a perfect match scores 0.5"
            what = "subtract the overlap below for an IoU, or write `2 *` above for a Dice score"
            yield source.hit(ratio, f"`{source.code(ratio.right)}` {told}: {what}")


def _terms(source: Source, node: ast.expr, hops: int = 3) -> list[ast.expr]:
    """The summands of an expression, through names; a subtraction ends it, as one summand."""
    made = follow.followed(source, node) if hops and isinstance(node, ast.Name) else node
    if isinstance(made, ast.BinOp) and isinstance(made.op, ast.Add):
        return [*_terms(source, made.left, hops - 1), *_terms(source, made.right, hops - 1)]
    return [made]


def _overlap(source: Source, node: ast.expr) -> set[str] | None:
    """`{"p", "t"}` of `(p * t).sum()`, `(p & t).sum()`, `torch.logical_and(p, t).sum()`."""
    inner = _inner(source, node)
    if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Mult | ast.BitAnd):
        return {source.code(inner.left), source.code(inner.right)}
    if isinstance(inner, ast.Call) and source.name(inner.func) in _ANDS and len(inner.args) == 2:
        return {source.code(one) for one in inner.args}
    return None


def _summed(source: Source, node: ast.expr) -> str:
    """`p` of `p.sum()`, `p == c` of `(p == c).sum()`; "" for anything else."""
    inner = _inner(source, node)
    return source.code(inner) if isinstance(inner, ast.Name | ast.Attribute | ast.Compare) else ""


def _inner(source: Source, node: ast.expr) -> ast.expr | None:
    """What is added up: `x` of `x.sum(1)`, `torch.sum(x)`, also under `.item()` and `.float()`."""
    while isinstance(node, ast.Call) and follow.method(node) in ("item", "float"):
        node = tree.receiver(node)
    if not isinstance(node, ast.Call):
        return None
    if source.name(node.func) in _SUMS:
        return node.args[0] if node.args else None
    inner = tree.receiver(node) if follow.method(node) == "sum" else None
    return tree.receiver(inner) if isinstance(inner, ast.Call) and follow.method(inner) == "float" else inner
