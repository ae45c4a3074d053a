"""The rule of gradient-cut-on-the-way."""

import ast
from collections import Counter
from collections.abc import Iterator

from torchlore.check import api, classes, flow, trained, tree, uses, values
from torchlore.check.source import Hit, Source
from torchlore.check.tensors import no_grad_around

_CUTS = ("detach", "data", "detach_")


def find(source: Source) -> Iterator[Hit]:
    if ".backward(" not in source.text or not any(f".{cut}" in source.text for cut in _CUTS):
        return
    yield from _in_the_open(source)
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


def _in_the_open(source: Source) -> Iterator[Hit]:
    """`fake = first(x)`, called in this one place, where all that is done with `fake` is `fake.detach()`."""
    given = {tree.dotted(tree.receiver(one)): one for one in source.methods("parameters") if _to_optimizer(source, one)}
    for assign in source.all(ast.Assign):
        call, target = assign.value, assign.targets[0]
        name = tree.dotted(call.func) if isinstance(call, ast.Call) and isinstance(target, ast.Name) else ""
        held = any(name == one or name.startswith(f"{one}.") for one in given if one)
        if not name or not held or not isinstance(call, ast.Call) or not isinstance(target, ast.Name):
            continue
        reads = [one for one in uses.names(source, target.id) if isinstance(one.ctx, ast.Load)]
        ups = [source.parents[one] for one in reads]
        cuts = [one for one in ups if isinstance(one, ast.Attribute) and one.attr in ("detach", "data")]
        if not cuts or len(cuts) < len(ups):
            continue
        called = Counter(tree.dotted(one.func) for one in source.all(ast.Call))
        root = next(one for one in given if one and (name == one or name.startswith(f"{one}.")))
        alone = called[name] == 1 and (root == name or not called[root])
        if not alone or not tree.loops(source, call) or not values.sure(source, call.func, "module"):
            continue
        if not no_grad_around(source, call) and flow.may_train(source):
            told = f"nothing of the loss comes back through this to `{name}`, which the optimizer holds: it never learns; take it off"
            yield source.hit(cuts[0], told, severity="warning")


def _to_optimizer(source: Source, node: ast.AST) -> bool:
    calls = [up for up in tree.ancestors(source, node) if isinstance(up, ast.Call)]
    return any(api.kind_of_call(source.name(call.func)) == "optimizer" for call in calls)


def _cut(source: Source, call: ast.Call) -> ast.AST | None:
    """`self.encoder(x).detach()`, `F.relu(self.encoder(x)).data`, or the only use of `h = self.encoder(x)` is `h.detach()`."""
    up = source.parents[call]
    while isinstance(up, ast.Call) and call in up.args and source.name(up.func).startswith("torch."):
        call, up = up, source.parents[up]
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
