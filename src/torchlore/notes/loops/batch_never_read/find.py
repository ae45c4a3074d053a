"""The rule of batch-never-read."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, iteration, scopes, tree, values
from torchlore.check.source import Hit, Source

WORDS = ("for", "*loader*|*_dl*|*dataset*")


def find(source: Source) -> Iterator[Hit]:
    for loop in source.all(ast.For):
        names = _batch(source, loop)
        if not names or not all(follow.unread(source, one) for one in names):
            continue
        if not values.sure(source, iteration.unwrapped(source, loop.iter), "loader", weak=True):
            continue
        given = _given(source, loop)
        if given is not None:
            told = f"no turn of this loop reads `{names[0].id}`, and `{given.id}` is one and the same in all of them"
            yield source.hit(given, f"{told}: give the network `{names[0].id}`")


def _batch(source: Source, loop: ast.For) -> list[ast.Name]:
    """The names of the batch, without a counter and what is called `_`."""
    target: ast.expr = loop.target
    counted = isinstance(loop.iter, ast.Call) and source.name(loop.iter.func) == "enumerate"
    if counted and isinstance(target, ast.Tuple) and len(target.elts) == 2:
        target = target.elts[1]
    names = [one for one in ast.walk(target) if isinstance(one, ast.Name)]
    return names if not any(one.id.startswith("_") for one in names) else []


def _given(source: Source, loop: ast.For) -> ast.Name | None:
    """What a network is given in each turn, if it was bound before the loop and nothing in it changes."""
    for call in tree.under(source, loop, ast.Call):
        first = call.args[0] if call.args else None
        bound = scopes.reaching(source, first) if isinstance(first, ast.Name) else []
        if not isinstance(first, ast.Name) or not bound or any(one.how not in ("assign", "for") for one in bound):
            continue
        away = not any(tree.inside(source, one.statement, loop) for one in bound)
        if away and values.sure(source, call.func, "module", weak=True) and not values.sure(source, call.func, "loss"):
            return first
    return None
