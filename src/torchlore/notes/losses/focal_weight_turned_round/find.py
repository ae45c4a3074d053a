"""The rule of focal-weight-turned-round."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, grouped, terms, tree
from torchlore.check.source import Hit, Source

WORDS = ("log", "*gamma*")


def find(source: Source) -> Iterator[Hit]:
    for product in grouped.operations(source, ast.Mult) if "gamma" in source.text else ():
        if not terms.is_whole_product(source, product):
            continue
        factors = terms.factors(product)
        powers = {base: one for one in factors if (base := _power(source, one))}
        logs = {inside for one in factors if (inside := _log(source, one))}
        for base in sorted(powers.keys() & logs):
            other = base[4:] if base.startswith("1 - ") else f"1 - {base}"
            code = f"({other})" if other.startswith("1 - ") else other
            told = (
                f"`log({base})` is weighed by how right it is: the power belongs to `{code}`, or the easy samples count"
            )
            yield source.hit(product, told)


def _power(source: Source, node: ast.expr) -> str:
    """`1 - p` of `(1 - p) ** gamma`, `torch.pow(1 - p, gamma)` and `(1 - p).pow(gamma)`."""
    base, exponent = None, None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        base, exponent = node.left, node.right
    elif isinstance(node, ast.Call) and follow.method(node) == "pow" and node.args:
        plain = source.name(node.func) == "torch.pow"
        base, exponent = (node.args[0], node.args[-1]) if plain else (tree.receiver(node), node.args[0])
    named = exponent is not None and "gamma" in tree.dotted(exponent).rpartition(".")[2]
    return ast.unparse(base) if base is not None and named else ""


def _log(source: Source, node: ast.expr) -> str:
    """`1 - p` of `torch.log(1 - p)` and `(1 - p).log()`; an epsilon is left out."""
    if not isinstance(node, ast.Call) or follow.method(node) != "log":
        return ""
    plain = source.name(node.func) == "torch.log"
    inside = (node.args[0] if node.args else None) if plain else tree.receiver(node)
    while isinstance(inside, ast.BinOp) and isinstance(inside.op, ast.Add):
        inside = inside.left
    return ast.unparse(inside) if inside is not None else ""
