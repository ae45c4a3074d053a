"""An optimizer built inside the epoch loop forgets its momentum and its step count every epoch.

Adam keeps two running averages for every weight and corrects them by its step count; SGD with momentum keeps one. Built
again each epoch, in the loop or in the `train_epoch` function that the loop calls, all of it starts from zero, and the
first steps of every epoch are wild or lame. A learning rate that a scheduler or you have lowered is back at its start.

Build it once, before the loop, and pass it in: `train_epoch(model, optimizer, loader)`.
"""

import ast
import re
from collections.abc import Iterator
from typing import Annotated

from torchlore.check import flow, frameworks, scopes, tree
from torchlore.check.events import Event
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = ("https://github.com/alan-turing-institute/deepsensor/issues/47",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"
_EPOCH = re.compile(r"^(ep|_?epoch\w*|\w*_epoch)$")


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["steps_remembered"] == 5
    assert good["steps_remembered"] == 20


def find(source: Source) -> Iterator[Hit]:
    if "optim" not in source.text or not any(_EPOCH.match(tree.dotted(one.target)) for one in source.all(ast.For)):
        return
    seen = set()
    for loop in flow.loops(source):
        counted = isinstance(loop.node, ast.For) and _EPOCH.match(tree.dotted(loop.node.target))
        if not counted or frameworks.owned(source, loop.node):
            continue
        for event in loop.direct("optimizer"):
            around = [test for test, _ in event.conditions]
            trains = any(step.loops[-1] is not loop.node for step in loop.of("step"))
            if event.source is not source or event.node in seen or around or not trains or not _old_model(event, loop):
                continue
            seen.add(event.node)
            made = isinstance(source.parents[event.node], ast.Return) and bool(event.via)  # `opt = make_optimizer(net)`
            yield source.hit(
                event.at if made else event.node,
                "a new optimizer in every epoch forgets momentum and step count: build it once, before the loop",
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
    bound = scopes.reaching(event.source, root)
    return all(not tree.inside(event.source, one.statement, loop.node) or one.how == "parameter" for one in bound)


def watch(call: Annotated[Call, "Optimizer"]) -> Alarm | None:
    owned = [id(p) for group in getattr(call.owner, "param_groups", ()) for p in group["params"]]
    key = hash((type(call.owner).__name__, *owned))
    before = [one.steps for one in call.run.optimizers[:-1]][-1:]
    loads = call.run.counts["Module.load_state_dict"]  # a client of federated learning starts from the server's weights
    again = call.memory.get("key") == key and call.memory.get("loads") == loads and bool(before) and before[0] > 1
    call.memory.update(key=key, loads=loads)
    if not owned or not call.in_a_row(3, again):
        return None
    return Alarm(
        f"this line has built an optimizer over the same parameters {call.memory['row'] + 1} times, each forgets the "
        "momentum and step count of the one before; build it once, before the loop",
        certain=False,
    )
