"""The rule of gradient-cut-on-the-way."""

import ast
from collections.abc import Iterator

from torchlore.check import classes, trained, tree
from torchlore.check.source import Hit, Source
from torchlore.check.tensors import no_grad_around

_CUTS = ("detach", "data", "detach_")


def find(source: Source) -> Iterator[Hit]:
    if ".backward(" not in source.text or not any(f".{cut}" in source.text for cut in _CUTS):
        return
    for cls in classes.all_classes(source):
        forward = classes.methods(cls).get("forward") if classes.is_module(cls) else None
        for name in classes.own_attributes(cls) if forward is not None else ():
            calls = trained.calls_of(source, cls, name)
            cuts = [(one, cut) for one in calls if (cut := _cut(source, one)) is not None]
            quiet = [one for one in calls if no_grad_around(source, one)]
            here = [cut for one, cut in cuts if tree.function(source, one) is forward]
            if not here or len(cuts) + len(quiet) < len(calls) or not trained.fresh(source, cls, name):
                continue
            if trained.given_whole(source, cls):
                told = f"nothing of the loss comes back through this to `self.{name}`, so it never learns: take it off, or freeze it by name"
                yield source.hit(here[0], told, severity="warning")


def _cut(source: Source, call: ast.Call) -> ast.AST | None:
    """`self.encoder(x).detach()`, or the only use of `h = self.encoder(x)` is `h.detach()`."""
    up = source.parents[call]
    if isinstance(up, ast.Attribute):
        return up if up.attr in _CUTS else None
    target = up.targets[0] if isinstance(up, ast.Assign) and len(up.targets) == 1 else None
    home = tree.function(source, call)
    if not isinstance(target, ast.Name) or home is None:
        return None
    names = [one for one in tree.under(source, home, ast.Name) if one.id == target.id and one is not target]
    over = [source.parents[one] for one in names if one.lineno > call.lineno and isinstance(one.ctx, ast.Load)]
    first = over[0] if over else None
    cut = isinstance(first, ast.Attribute) and first.attr in _CUTS
    again = isinstance(statement := tree.statement(source, first), ast.Assign) if first is not None else False
    same = again and isinstance(statement, ast.Assign) and tree.dotted(statement.targets[0]) == target.id
    return first if cut and (len(over) == 1 or same) else None
