"""A loop that steps without `zero_grad` steps along the sum of all gradients so far.

`backward()` adds to `p.grad`; nothing empties it but `zero_grad()`. Without it each step uses the gradients of every
batch seen, the effective learning rate grows with the step number, and training swings or diverges after a good start.

Call `optimizer.zero_grad()` once for every `optimizer.step()`, before the `backward()` of the next batch. Accumulating on
purpose keeps the pair together: step and zero under the same `if (i + 1) % k == 0`.
"""

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import edits, flow, frameworks, tree, values
from torchlore.check.events import Event
from torchlore.check.flow import LoopFlow
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Step

ROWS = ()
SOURCES = ("https://discuss.pytorch.org/t/why-do-we-need-to-set-the-gradients-manually-to-zero-in-pytorch/4903",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"

_OTHERS = ("zero", "reset", "clear")  # a helper we cannot look into may do it


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["gradient"] > 5 * bad["first"]
    assert good["gradient"] < 1.5 * good["first"]


def find(source: Source) -> Iterator[Hit]:
    if not any(source.methods("backward")):
        return
    for loop in flow.training_loops(source):
        if frameworks.owned(source, loop.node) or "distributed.autograd" in source.text:
            continue
        step = _first_unzeroed(source, loop)
        if step is None:
            continue
        backward = loop.direct("backward")[0]
        name = source.code(step.expr) if step.expr is not None and step.source is source else "optimizer"
        fix = (
            [edits.insert_before(source, backward.node, f"{name}.zero_grad()")] if _plain(loop, step, backward) else []
        )
        message = f"the gradients of every batch add up in `{name}`: call `{name}.zero_grad()` before the backward pass"
        yield source.hit(step.node if step.source is source else step.at, message, *fix)


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


def _wrapped(step: Event) -> bool:
    """An optimizer of the project's own may zero in its `step`."""
    if step.expr is None:
        return True
    return any(value.kind == "object" or value.name.count(".") == 1 for value in values.values(step.source, step.expr))


def _helper(loop: ast.AST) -> bool:
    names = (tree.dotted(node.func).rpartition(".")[2] for node in tree.body_nodes(loop) if isinstance(node, ast.Call))
    return any(word in name for name in names for word in _OTHERS if name != "zero_grad")


def _plain(loop: LoopFlow, step: Event, backward: Event) -> bool:
    here = not step.via and not backward.via and not backward.conditions
    return here and len({event.owner for event in loop.of("step")}) == 1


def watch(step: Step) -> Alarm | None:
    if not step.in_a_row(3, step.carried_over and not step.closure):
        return None
    told = (
        "gradients that step() has applied before are still in .grad and are applied again; call zero_grad() every step"
    )
    return Alarm(told, evidence=f"{step.record.kind}: the same .grad grew over {step.number} steps")
