"""The rule of weight-cancels."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, grouped, scopes, tree
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_WEIGHT = regex(r"^w$|^ws$|weight|_w$|^w_", re.IGNORECASE)
_HOLDS = (ast.Name, ast.Attribute, ast.BinOp)  # what may stand for a weight, or a product with one


def find(source: Source) -> Iterator[Hit]:
    ratios = [one for one in grouped.operations(source, ast.Div) if isinstance(one.right, _HOLDS)]
    if not ratios or ("inter" not in source.text and "weight" not in source.text):
        return
    for ratio in ratios:
        top = _weights(source, ratio.left)
        if not top:
            continue
        bottom = _weights(source, ratio.right)
        for code, weight in top.items():
            if code in bottom and _same(source, weight, bottom[code]):
                yield source.hit(
                    ratio,
                    f"`{code}` multiplies both sides of this quotient and cancels out: sum both over the classes first, "
                    f"or multiply the quotient by `{code}`",
                )
                break


def _weights(source: Source, node: ast.expr) -> dict[str, ast.expr]:
    """The weights among the factors of `2 * (inter * w) + smooth`, through names."""
    node = follow.followed(source, node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _weights(source, node.left), _weights(source, node.right)
        return left if left and _is_small(source, node.right) else right if _is_small(source, node.left) else {}
    found: dict[str, ast.expr] = {}
    for factor in _factors(source, node, 6):
        word = tree.dotted(factor).rpartition(".")[2]
        if word and _WEIGHT.search(word) and not (word == "w" and _beside_a_height(source, factor)):
            found[source.code(factor)] = factor
    return found


def _beside_a_height(source: Source, factor: ast.expr) -> bool:
    """`w` of `def scale(h, w)`: a width."""
    home = tree.function(source, factor)
    return home is not None and any(arg.arg == "h" for arg in tree.parameters(home))


def _factors(source: Source, node: ast.expr, hops: int) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        yield from _factors(source, node.left, hops)
        yield from _factors(source, node.right, hops)
        return
    yield node
    inner = follow.binding(source, node) if hops else None
    if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Mult):
        yield from _factors(source, inner, hops - 1)


def _is_small(source: Source, node: ast.expr) -> bool:
    """`smooth`, `self.eps`, a number."""
    return isinstance(tree.literal(node), int | float) or re.search(r"smooth|eps", source.code(node)) is not None


def _same(source: Source, one: ast.expr, other: ast.expr) -> bool:
    """Whether both names mean the same value."""
    if isinstance(one, ast.Name) and isinstance(other, ast.Name):
        found = [scopes.reaching(source, name) for name in (one, other)]
        size = any(part.value is not None and "shape" in source.code(part.value) for part in found[0])  # a width
        return bool(found[0]) and [part.node for part in found[0]] == [part.node for part in found[1]] and not size
    return isinstance(one, ast.Attribute) and isinstance(other, ast.Attribute)
