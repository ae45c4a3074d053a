"""What a file shows of it."""

import ast
from collections.abc import Iterator

from torchlore.check import tree, uses
from torchlore.check.source import Hit, Source


def find(source: Source) -> Iterator[Hit]:
    if "requires_grad" not in source.text:
        return
    for call, _ in uses.calls_under(source, "torch.optim."):
        given = tree.argument(call, 0, "params")
        chosen = _chosen(source, given) if given is not None else None
        if chosen is not None:
            yield source.hit(chosen, "this chooses the frozen parameters, and none of them moves: leave out the `not`")


def _chosen(source: Source, given: ast.expr) -> ast.expr | None:
    """`not p.requires_grad` of a filter or a comprehension."""
    if isinstance(given, ast.Call) and source.name(given.func) in ("list", "filter") and given.args:
        if source.name(given.func) == "list":
            return _chosen(source, given.args[0])
        test = given.args[0].body if isinstance(given.args[0], ast.Lambda) else None
    elif isinstance(given, ast.ListComp | ast.GeneratorExp) and len(given.generators[0].ifs) == 1:
        test = given.generators[0].ifs[0]
    else:
        return None
    turned = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    held = test.operand if isinstance(test, ast.UnaryOp) and turned else None
    return test if isinstance(held, ast.Attribute) and held.attr == "requires_grad" else None
