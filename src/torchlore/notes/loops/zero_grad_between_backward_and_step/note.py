"""zero_grad() between backward() and step() throws the new gradients away: nothing is learned.

The order of a step is zero, backward, step. With `optimizer.zero_grad()` in the middle, `step()` finds every gradient
`None` (or zero, with `set_to_none=False`) and changes nothing. Weight decay and momentum left from before still move
the weights a little, so the loss wanders and the run looks alive.

Zero first, or zero right after the step:

```python
optimizer.zero_grad()
loss.backward()
optimizer.step()
```
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlore.check import edits, flow, frameworks, tree, values
from torchlore.check.events import Event
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Step

ROWS = ()
SOURCES = ("https://discuss.pytorch.org/t/why-do-we-need-to-set-the-gradients-manually-to-zero-in-pytorch/4903",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["moved"] == 0
    assert good["moved"] > 0.1
    assert good["loss"] < bad["loss"]


def watch(step: Step) -> Alarm | None:
    empty = all(one.empty for one in step.trainable[:4])
    if not step.in_a_row(2, not step.closure and bool(re.search("BC?Z+C?S$", step.order)) and empty):
        return None
    return Alarm(
        "zero_grad() runs between backward() and step(), so step() sees no gradient; move it before backward()",
        at=step.of("zero")[-1].place,
        evidence=f"{len(step.trainable)} parameters without a gradient at step {step.number}",
    )


def find(source: Source) -> Iterator[Hit]:
    if not any(source.methods("backward")):
        return
    for loop in flow.training_loops(source):
        if frameworks.owned(source, loop.node):
            continue
        order = [event for event in loop.direct("backward", "zero_grad", "step") if event.detail != "closure"]
        for backward, zero, step in zip(order, order[1:], order[2:], strict=False):
            if (backward.what, zero.what, step.what) != ("backward", "zero_grad", "step") or zero.source is not source:
                continue
            if not _same(zero, step, order) or zero.conditions != step.conditions or zero.detail == "manual":
                continue
            here = zero.at is zero.node and backward.at is backward.node and backward.source is source
            plain = here and zero.conditions == backward.conditions and tree.is_statement(source, zero.node)  # type: ignore[arg-type]  # a call
            fix = edits.move_before(source, zero.node, backward.node) if plain else ()
            code = source.code(zero.node)
            yield source.hit(
                zero.node,
                f"`{code}` throws the gradients away between backward() and step(): move it before the backward pass",
                *fix,
            )


def _same(zero: Event, step: Event, order: list[Event]) -> bool:
    """Whether it zeroes what is stepped: the same optimizer, or the model where there is one optimizer only."""
    if flow.same_object(zero, step):
        return True
    steps = {event.owner for event in order if event.what == "step"}
    zeroed = {event.owner for event in order if event.what == "zero_grad" and event.owner not in steps}
    model = zero.expr is not None and values.sure(zero.source, zero.expr, "module", weak=True)
    return model and len(steps) == len(zeroed) == 1 and not _part(zero)


def _part(zero: Event) -> bool:
    """`gan.generator.zero_grad()`: one part of a net, whose other parts keep their gradients."""
    whole = zero.expr.value if isinstance(zero.expr, ast.Attribute) else None
    return whole is not None and values.sure(zero.source, whole, "module", weak=True)
