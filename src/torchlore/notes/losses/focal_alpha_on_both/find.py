"""The rule of focal-alpha-on-both."""

import ast
from collections.abc import Iterator

from torchlore.check import terms, tree
from torchlore.check.source import Hit, Source

WORDS = ("alpha", "*gamma*")


def find(source: Source) -> Iterator[Hit]:
    for home in source.all(ast.FunctionDef) if "gamma" in source.text else ():
        products = [one for one in tree.under(source, home, ast.BinOp) if terms.is_whole_product(source, one)]
        parts = [(one, terms.factors(one)) for one in products] if len(products) > 1 else []
        for negative, factors in parts:
            alphas = {code for code in map(ast.unparse, factors) if code.rpartition(".")[2] == "alpha"}
            rests = {ast.unparse(one.right) for one in factors if _is_rest(one)}  # type: ignore[attr-defined]  # a BinOp
            if not alphas or not rests or not _has_gamma(factors):
                continue
            for positive, others in parts:
                codes = set(map(ast.unparse, others))
                if positive is not negative and codes & alphas and codes & rests and _has_gamma(others):
                    (alpha, *_), (target, *_) = sorted(codes & alphas), sorted(codes & rests)
                    told = f"`{alpha}` stands before `{target}` and before `1 - {target}`, so it balances nothing: write `(1 - {alpha})` here"
                    yield source.hit(negative, told)
                    break


def _is_rest(node: ast.expr) -> bool:
    """`1 - target`."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and tree.literal(node.left) == 1


def _has_gamma(factors: list[ast.expr]) -> bool:
    return any("gamma" in ast.unparse(one) for one in factors)
