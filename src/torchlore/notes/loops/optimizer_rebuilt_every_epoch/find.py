"""What a file shows of it."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, flow, frameworks, scopes, tree
from torchlore.check.events import Event
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_EPOCH = regex(r"^(ep|_?epoch\w*|\w*_epoch)$")

WORDS = ("*epoch*|ep", "*optim*")


def find(source: Source) -> Iterator[Hit]:
    if "optim" not in source.text or not any(_over_epochs(source, one) for one in source.all(ast.For)):
        return
    seen = set()
    for loop in flow.loops(source):
        counted = isinstance(loop.node, ast.For) and _over_epochs(source, loop.node)
        if not counted or frameworks.owned(source, loop.node):
            continue
        yield from _schedulers(source, loop)
        for event in loop.direct("optimizer"):
            around = [test for test, _ in event.conditions]
            trains = any(step.loops[-1] is not loop.node for step in loop.of("step"))
            if event.source is not source or event.node in seen or around or not trains or not _old_model(event, loop):
                continue
            if _inner_loop(source, event):
                continue
            if any(_EPOCH.match(tree.dotted(one.target)) for one in _inner(source, loop.node)):
                continue  # a stage, with epochs of its own
            seen.add(event.node)
            made = isinstance(source.parents[event.node], ast.Return) and bool(event.via)  # `opt = make_optimizer(net)`
            yield source.hit(
                _asked(event) if made else event.node,
                "a new optimizer in every epoch forgets momentum and step count: build it once, before the loop",
            )


def _asked(event: Event) -> ast.AST:
    """The line that asks the helper for it: in the loop, or in the function that the loop calls for each epoch."""
    outer = event.via[-2] if len(event.via) > 1 else None
    sites = [
        call for at, call, _ in calls.callers(event.via[-1]) if outer is not None and tree.inside(at, call, outer.node)
    ]
    return sites[0] if len(sites) == 1 and outer is not None and outer.source is event.source else event.at


def _inner_loop(source: Source, event: Event) -> bool:
    """An optimizer that nobody steps and `higher.innerloop_ctx(net, optimizer)` copies: it begins anew for each task."""
    name = tree.dotted(event.expr) if event.expr is not None else ""
    return "innerloop_ctx" in source.text and bool(name) and f"{name}.step(" not in source.text


def _inner(source: Source, loop: ast.AST) -> list[ast.For]:
    return [one for one in tree.under(source, loop, ast.For) if one is not loop]


def _over_epochs(source: Source, loop: ast.For) -> bool:
    """`for epoch in ...`, `for _ in range(EPOCHS)`, or a counted loop that calls `train_epoch`."""
    if _EPOCH.match(tree.dotted(loop.target)) or "epoch" in source.code(loop.iter).lower():
        return True
    counted = isinstance(loop.iter, ast.Call) and source.name(loop.iter.func) == "range"
    calls = tree.under(source, loop, ast.Call) if counted else []
    return any(re.search(r"(^|_)epoch$", tree.dotted(one.func).rpartition(".")[2]) for one in calls)


def _schedulers(source: Source, loop: flow.LoopFlow) -> Iterator[Hit]:
    """A scheduler that is made in each epoch and stepped once in it: its count never gets beyond 1."""
    made = [one for one in loop.direct("scheduler") if not one.conditions and one.source is source]
    stepped = [one for one in loop.direct("schedule") if not one.conditions]
    if loop.of("optimizer", "model") or not any(step.loops[-1] is not loop.node for step in loop.of("step")):
        return
    for event in made:
        once = [one for one in stepped if one.owner is not None and one.owner == event.owner]
        anywhere = [one for one in loop.of("schedule") if one.owner == event.owner]
        if once and len(once) == len(anywhere):
            yield source.hit(
                event.node, "a new scheduler in every epoch starts its count again: build it once, before the loop"
            )


def _old_model(event: Event, loop: flow.LoopFlow) -> bool:
    """Whether the parameters belong to a model that was there before the loop."""
    given = tree.argument(event.node, 0, "params") if isinstance(event.node, ast.Call) else None
    if not (isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute) and given.func.attr == "parameters"):
        return False
    root: ast.expr = given.func.value
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or loop.of("model", "load"):
        return False
    home, net = tree.function(event.source, event.node), given.func.value
    for one in event.source.all(ast.Assign) if net is not root else ():
        if tree.function(event.source, one) is home and any(tree.dotted(to) == tree.dotted(net) for to in one.targets):
            return False  # `self.model` is made anew right here
    bound = scopes.reaching(event.source, root)
    return all(not tree.inside(event.source, one.statement, loop.node) or one.how == "parameter" for one in bound)
