"""The rule of missing-zero-grad."""

import ast
import itertools
from collections.abc import Iterator

from torchlore.check import edits, flow, follow, frameworks, tree, values
from torchlore.check.events import Event
from torchlore.check.flow import LoopFlow
from torchlore.check.source import Hit, Source

_OTHERS = ("zero", "reset", "clear")  # a helper we cannot look into may do it


def find(source: Source) -> Iterator[Hit]:
    if not any(source.methods("backward")):
        return
    for loop in flow.training_loops(source):
        if frameworks.owned(source, loop.node) or "distributed.autograd" in source.text:
            continue
        step = _first_unzeroed(source, loop)
        if step is None or follow.in_test(source, loop.node):
            continue
        backward = loop.direct("backward")[0]
        name = source.code(step.expr) if step.expr is not None and step.source is source else "optimizer"
        fix = (
            [edits.insert_before(source, backward.node, f"{name}.zero_grad()")] if _plain(loop, step, backward) else []
        )
        message = f"the gradients of every batch add up in `{name}`: call `{name}.zero_grad()` before the backward pass"
        place = _twice(loop) or (step.node if step.source is source else step.at)
        yield source.hit(place, message, *fix)


def _first_unzeroed(source: Source, loop: LoopFlow) -> Event | None:
    steps = [event for event in loop.of("step") if event.detail != "closure"]
    foreign = any(event.detail in ("accelerate", "lightning") for event in loop.of("backward"))
    if not steps or foreign or _helper(loop.node):
        return None
    around = [one for one in flow.events_of(source, loop.function) if one.what == "zero_grad"]
    near = loop.of("zero_grad")
    for step in steps:
        if step.loops[-1] is not loop.node or _wrapped(step):
            continue
        if step.conditions and any(one.loops and one.loops[0] in step.loops for one in around):
            continue  # accumulation: zeroed at the edge of an outer loop
        if not near or all(flow.surely_other(step, one) for one in near):
            return step
    return None


def _twice(loop: LoopFlow) -> ast.AST | None:
    """The second of two lines that zero one optimizer, one after the other: it was meant for this one."""
    cleared = [event for event in loop.events if event.what != "item"]
    for one, other in itertools.pairwise(cleared):
        same = one.what == other.what == "zero_grad" and flow.same_object(one, other) and one.node is not other.node
        if same and other.source is loop.source:
            return other.node
    return None


def _wrapped(step: Event) -> bool:
    """An optimizer of the project's own may zero in its `step`."""
    if step.expr is None:
        return True
    return any(value.kind == "object" or value.name.count(".") == 1 for value in values.values(step.source, step.expr))


def _helper(loop: ast.AST) -> bool:
    names = (tree.dotted(node.func).rpartition(".")[2] for node in tree.body_nodes(loop) if isinstance(node, ast.Call))
    known = {"zero_grad", "zeros", "zeros_like", "new_zeros", "clear_output"}
    return any(word in name for name in names for word in _OTHERS if name not in known)


def _plain(loop: LoopFlow, step: Event, backward: Event) -> bool:
    here = not step.via and not backward.via and not backward.conditions
    return here and len({event.owner for event in loop.of("step")}) == 1
