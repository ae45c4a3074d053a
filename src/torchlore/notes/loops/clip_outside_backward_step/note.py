"""Clipping works between `backward()` and `step()`; anywhere else it clips nothing that is used.

`clip_grad_norm_` scales the gradients that are there now. Called after `step()` it scales what the next `zero_grad()` throws
away; called before `backward()` it scales nothing. Training looks clipped in the configuration and is not.

Order: `loss.backward()`, with a GradScaler `scaler.unscale_(optimizer)`, then `clip_grad_norm_(...)`, then
`optimizer.step()`.
"""

import ast
import re
from collections.abc import Iterator
from typing import Any

from torchlore.check import edits, flow, frameworks, tree
from torchlore.check.events import Event
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Step

ROWS = ()
SOURCES = ("https://github.com/awslabs/graphstorm/issues/1366",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["largest_update"] > 10
    assert good["largest_update"] < 1.001


def find(source: Source) -> Iterator[Hit]:
    clips = ("clip_grad_norm_", "clip_grad_value_", "clip_grad_norm", "clip_grad_value")
    if not any(name in source.text for name in clips):
        return
    for loop in flow.training_loops(source):
        if frameworks.owned(source, loop.node):
            continue
        order = [event for event in loop.direct("backward", "clip", "step", "zero_grad") if event.detail != "closure"]
        kinds = flow.kinds_in(order)
        if (
            "clip" not in kinds
            or "step" not in kinds
            or "zero_grad" not in kinds
            or kinds.index("step") < kinds.index("backward")
        ):
            continue
        for clip in order:
            if clip.what == "clip" and clip.source is source:
                own = [event for event in order if not flow.exclusive(event, clip)]
                index, kinds = own.index(clip), flow.kinds_in(own)
                if "step" in kinds[:index] and "step" not in kinds[index:]:
                    yield _hit(source, clip, own, "after the step: it scales gradients that nobody uses any more")
                elif "backward" in kinds[index:] and "step" in kinds and "backward" not in kinds[:index]:
                    yield _hit(source, clip, own, "before the backward pass: there is nothing to clip yet")


def _hit(source: Source, clip: Event, order: list[Event], where: str) -> Hit:
    step = next(event for event in order if event.what == "step")
    statement = tree.statement(source, clip.node)
    simple = isinstance(statement, ast.Expr | ast.Assign) and statement.lineno == statement.end_lineno
    same = step.source is source and not step.via and not clip.via and step.conditions == clip.conditions
    fix = (
        edits.move_before(source, clip.node, step.node) if simple and same and not _between(source, clip, step) else ()
    )
    message = f"gradients are clipped {where}; put this line between backward() and step()"
    return source.hit(clip.node, message, *fix)


def _between(source: Source, clip: Event, step: Event) -> bool:
    """Whether the two lines stand next to each other, so that moving one moves no reader of its result."""
    return (
        abs(getattr(clip.node, "lineno", 0) - getattr(step.node, "lineno", 0)) > 6
        or "=" in source.code(tree.statement(source, clip.node)).split("(")[0]
    )


def watch(step: Step) -> Alarm | None:
    late = re.search("^[^BC]*C+[^BC]*B[^C]*S$", step.order) and "s" not in step.order
    if not step.in_a_row(2, bool(late) and not step.closure and step.number > 1):
        return None
    told = "gradients are clipped after step(), where it changes nothing; clip between backward() and step()"
    return Alarm(told, at=step.of("clip")[-1].place, evidence=f"order since the last step: {step.order}")
