"""The rule of average-never-updated."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import averages, calls, classes, follow, project, scopes, tree, uses
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_AVERAGE = regex(r"ema|teacher|averag|shadow|momentum_(enc|model)", re.IGNORECASE)


WORDS = ("zip|*ema*|*teacher*", "parameters|named_parameters|load_state_dict|step")


def find(source: Source) -> Iterator[Hit]:
    yield from _pulled_back(source)
    if not uses.says(source, "ema") and "teacher" not in source.text:
        return
    yield from _copied_too_early(source)
    steps = [one for one in source.methods("step") if tree.is_statement(source, one) and "opt" in source.code(one.func)]
    named = [cls for cls in classes.all_classes(source) if _AVERAGE.search(cls.node.name)] if steps else []
    moving = _moving(source) if named else set()
    for cls in named:
        ways = {name for name, node in classes.methods(cls).items() if node in moving}
        made = list(source.calls(cls.qualified)) if ways else []
        called = any(uses.attributes(source, way) for way in ways)  # or handed on, `after=ema.update`
        inside = any(one in ("forward", "__call__", "__init__") for one in ways)
        if made and not called and not inside and _is_used(source, made[0]):
            way = min(ways)
            told = f"`{cls.node.name}.{way}` is never called, so the average stays the untrained network: call it after this step"
            yield source.hit(steps[0], told, severity="warning")  # somebody elsewhere may


def _moving(source: Source) -> set[tree.FunctionNode | None]:
    """The functions that pull one thing towards another."""
    updates = [one.update for one in averages.averages(source)] + [one.update for one in averages.mixes(source)]
    return {tree.function(source, one) for one in updates}


def _pulled_back(source: Source) -> Iterator[Hit]:
    """`soft_update(target, online)`, where the function is written for `soft_update(online, target)`."""
    moved = list(averages.averages(source)) if "zip(" in source.text else []
    if not moved:
        return
    owned = (call.args[0] for call, _ in uses.calls_under(source, "torch.optim.") if call.args)
    trained = {source.code(tree.receiver(one)) for one in owned
               if isinstance(one, ast.Call) and follow.method(one) == "parameters"}  # fmt: skip
    for one in moved if trained else ():
        home = tree.function(source, one.loop)
        sides = [next((arg for arg in tree.parameters(home) if arg.arg == tree.dotted(net)), None) if home else None
                 for net in (one.average, one.model)]  # fmt: skip
        if home is None or sides[0] is None or sides[1] is None or one.takes is None:
            continue
        share = averages.number(source, one.takes)
        if share is None or share > 0.5:
            continue
        function = project.as_function(source, home)
        for other, call, skip in calls.callers(function):
            given = [calls.given_argument(function, call, arg, skip) for arg in sides if arg is not None]
            codes = [source.code(net) if net is not None else "" for net in given] if other is source else ["", ""]
            if codes[0] in trained and codes[1] and codes[1] not in trained:
                told = f"this pulls `{codes[0]}`, which the optimizer trains, back to `{codes[1]}`, which never changes: swap the two"
                yield source.hit(call, told)


def _is_used(source: Source, made: ast.Call) -> bool:
    """Whether the file keeps the average and reads it again, and hands it to nobody who could update it."""
    held = tree.statement(source, made)
    target = held.targets[0] if isinstance(held, ast.Assign) and held.value is made else None
    if isinstance(target, ast.Name):
        reads = [one for one in uses.names(source, target.id) if isinstance(one.ctx, ast.Load)]
    elif isinstance(target, ast.Attribute):
        reads = [one for one in uses.attributes(source, target.attr) if isinstance(one.ctx, ast.Load)]  # type: ignore[misc]  # names or attributes
    else:
        return False
    passed = any(isinstance(source.parents[one], ast.Call | ast.keyword) for one in reads)
    return bool(reads) and not passed


def _copied_too_early(source: Source) -> Iterator[Hit]:
    """`ema_model = copy.deepcopy(model)` and after it `model.load_state_dict(...)`, which the copy never sees."""
    loaded = [one for one in source.methods("load_state_dict") if tree.is_statement(source, one)]
    for held in uses.assigns(source, None, ast.Call) if loaded else ():
        name = tree.dotted(held.targets[0])
        call = _inner(source, held.value) if _AVERAGE.search(name.rpartition(".")[2]) else None
        model = call.args[0] if call is not None and call.args else None
        if model is None or not tree.dotted(model):
            continue
        home = tree.function(source, held)
        loads = [one for one in loaded if tree.function(source, one) is home and one.lineno > held.lineno]
        mine = [
            one
            for one in loads
            if tree.dotted(tree.receiver(one)) == tree.dotted(model)
            and not tree.loops(source, one)
            and not _used_between(source, held, one)
        ]
        theirs = [
            one
            for one in loads
            if follow.base(tree.receiver(one)) == name.rpartition(".")[2] or name in source.code(one)
        ]
        if mine and not theirs and not tree.conditions(source, mine[0]) and _bound_once(source, model):
            told = f"`{name}` is a copy from before line {mine[0].lineno} loads `{tree.dotted(model)}`, so it averages from random weights"
            yield source.hit(held, f"{told}: make it after the loading", severity="warning")


def _used_between(source: Source, held: ast.Assign, load: ast.Call) -> bool:
    """`ema.update()` or `train(model, ema)` before the loading: that brings the best weights back for the test."""
    name = tree.dotted(held.targets[0]).rpartition(".")[2]
    between = (one for one in tree.under(source, tree.function(source, held) or source.tree, ast.Name, ast.Attribute)
               if held.lineno < getattr(one, "lineno", 0) < load.lineno)  # fmt: skip
    return any(tree.dotted(one).rpartition(".")[2] == name and tree.loops(source, one) for one in between)


def _inner(source: Source, node: ast.expr) -> ast.Call | None:
    """`copy.deepcopy(model)` or `EMA(model)`, through `.eval()`, `.requires_grad_(False)`."""
    while isinstance(node, ast.Call) and follow.method(node) in ("eval", "requires_grad_", "to", "cuda"):
        node = tree.receiver(node)
    if not isinstance(node, ast.Call):
        return None
    called = source.name(node.func) or tree.dotted(node.func)
    return node if called == "copy.deepcopy" or _AVERAGE.search(called.rpartition(".")[2]) else None


def _bound_once(source: Source, model: ast.expr) -> bool:
    return not isinstance(model, ast.Name) or len(scopes.reaching(source, model)) == 1
