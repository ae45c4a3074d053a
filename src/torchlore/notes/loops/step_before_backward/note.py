"""`optimizer.step()` before `loss.backward()` uses the gradients of the batch before, or none.

In a loop of zero, step, backward the step finds no gradient at all and nothing is ever learned. In a loop of step, zero,
backward every update comes one batch late, on weights that have changed since, and the last gradient is never used.
Neither fails.

The order is: forward, loss, `backward()`, `step()`; with `zero_grad()` anywhere but between the last two.
"""

import ast
from collections.abc import Iterator

from torchlore.check import edits, flow, frameworks
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://docs.pytorch.org/tutorials/beginner/basics/optimization_tutorial.html",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["moved"] == 0.0
    assert good["moved"] > 0.01


def find(source: Source) -> Iterator[Hit]:
    if not any(source.methods("backward")):
        return
    for loop in flow.training_loops(source):
        steps, backwards = loop.direct("step"), loop.direct("backward")
        if len(steps) != 1 or len(backwards) != 1 or frameworks.owned(source, loop.node):
            continue
        step, backward = steps[0], backwards[0]
        tests = [test for test, _ in (*step.conditions, *backward.conditions)]
        always = all(isinstance(source.parents.get(test), ast.While) for test in tests)
        plain = always and step.detail == backward.detail == ""
        here = step.at is step.node and backward.at is backward.node and step.source is backward.source is source
        order = loop.events
        elsewhere = len(loop.of("step", "backward")) > 2 or loop.of("clip")
        if not plain or not here or elsewhere or order.index(step) > order.index(backward):
            continue
        moved = edits.move_after(source, step.node, backward.node)
        code, loss = source.code(step.node), source.code(backward.node)
        yield source.hit(
            step.node, f"`{code}` runs before `{loss}`, on old gradients or none: move it behind", *moved, safe=True
        )
