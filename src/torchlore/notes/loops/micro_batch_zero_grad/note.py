"""zero_grad() in every micro-batch of an accumulation throws away all but the last one.

Gradient accumulation runs several backwards and then one step. With `optimizer.zero_grad()` at the top of the same loop,
each backward starts from nothing, and the step sees the last micro-batch only, divided by the number of them: batch 64
became batch 16 with a quarter of the learning rate, at four times the price.

Zero where you step:

```python
(criterion(model(x), y) / k).backward()
if (i + 1) % k == 0:
    optimizer.step()
    optimizer.zero_grad()
```
"""

import ast
import re
from collections.abc import Iterator

from torchlore.check import edits, flow, frameworks, tree
from torchlore.check.events import Event
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Step

ROWS = ()
SOURCES = ("https://github.com/bytetriper/RAE/issues/67",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["error"] > 0.3
    assert good["error"] < 1e-5


def find(source: Source) -> Iterator[Hit]:
    if not any(source.methods("backward")):
        return
    for loop in flow.training_loops(source):
        steps = [one for one in loop.direct("step") if one.detail != "closure"]
        backwards, zeros = loop.direct("backward"), loop.direct("zero_grad")
        if not steps or not all(_waits(one) for one in steps) or frameworks.owned(source, loop.node):
            continue
        free = [one for one in zeros if not _tests(one) and one.source is source]
        if len(backwards) != 1 or _tests(backwards[0]) or not free or any(_tests(one) for one in zeros):
            continue
        zero, step = free[0], steps[0]
        plain = zero.at is zero.node and step.at is step.node and step.source is source and len(free) == len(steps) == 1
        alone = isinstance(source.parents.get(zero.node), ast.Expr)
        fix = edits.move_after(source, zero.node, _last_of(source, step)) if plain and alone else ()
        yield source.hit(
            zero.node,
            f"the step waits for several batches, and `{source.code(zero.node)}` in each of them leaves it the last one only: "
            "zero right after the step",
            *fix,
        )


def _tests(event: Event) -> list[ast.expr]:
    """The conditions it stands under, without those of `while` loops."""
    return [test for test, _ in event.conditions if not isinstance(event.source.parents.get(test), ast.While)]


def _waits(step: Event) -> bool:
    return any(
        isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mod) for test in _tests(step) for one in ast.walk(test)
    )


def _last_of(source: Source, step: Event) -> ast.AST:
    """The line to zero behind: the step, or the `scaler.update()` that belongs to it."""
    block = getattr(source.parents[tree.statement(source, step.node)], "body", [])
    after = [one for one in block if isinstance(one, ast.Expr) and source.code(one).endswith(".update()")]
    return after[-1] if after and step.detail == "scaler" else step.node


def watch(step: Step) -> Alarm | None:
    voided = re.search("(Z[^BS]*F[^BS]*B[^BZS]*){2,}S$", step.order) and "s" not in step.order
    same = all(len({event.place for event in step.of(group)}) == 1 for group in ("backward", "zero"))
    if not step.in_a_row(3, bool(voided and same) and step.untouched and not step.closure):  # a scaler may skip some
        return None
    batches = step.order.count("B")
    return Alarm(
        f"{batches} batches are accumulated for one step, and zero_grad() in each of them leaves it the last one only; zero "
        "right after the step",
        at=step.of("zero")[-1].place,
    )
