"""`scheduler.step()` before the first `optimizer.step()` skips the first learning rate.

Building a scheduler sets the rate of step 0. Stepping it at the top of the epoch moves on to step 1 before anything was
trained: every rate comes one epoch early and the first is never used. Torch warns once and goes on.

Train first, then step the scheduler: once an epoch at the end of the epoch's loop, once a batch right after
`optimizer.step()`.
"""

from collections.abc import Iterator
from typing import Any

from torchlore.check import edits, flow, frameworks, values
from torchlore.check.events import Event
from torchlore.check.flow import LoopFlow
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Step

ROWS = ()
SOURCES = ("https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["rates"] == [0.5, 0.25, 0.125]
    assert good["rates"] == [1.0, 0.5, 0.25]


def find(source: Source) -> Iterator[Hit]:
    if not any(source.methods("step")):
        return
    for loop in flow.loops(source):
        scheduled = [event for event in loop.direct("schedule") if _plain(event)]
        steps = loop.of("step")
        if not scheduled or not steps or frameworks.owned(source, loop.node) or _stepped_before(source, loop):
            continue
        first = scheduled[0]
        if (
            loop.events.index(first) < loop.events.index(steps[0])
            and first.source is source
            and not _later(loop, first)
        ):
            yield _hit(source, loop, first)


def _plain(event: Event) -> bool:
    """A scheduler of torch's own that is stepped without a condition and without an epoch or a metric."""
    made = event.source.values(event.expr) if event.expr is not None else ()
    known = made and all(value.name.startswith("torch.optim.lr_scheduler.") for value in made)
    call = event.node
    return bool(known) and not event.conditions and not getattr(call, "args", ()) and not getattr(call, "keywords", ())


def _later(loop: LoopFlow, first: Event) -> bool:
    """Stepped again at the end of the same turn: some other plan."""
    return any(event is not first and flow.same_object(event, first) for event in loop.of("schedule"))


def _stepped_before(source: Source, loop: LoopFlow) -> bool:
    events = flow.events_of(source, loop.function)
    start = next((i for i, event in enumerate(events) if loop.node in event.loops), 0)
    return any(event.what == "step" for event in events[:start])


def _hit(source: Source, loop: LoopFlow, event: Event) -> Hit:
    name = source.code(event.expr) if event.expr is not None else "scheduler"
    message = f"`{name}.step()` runs before the first optimizer step, so the first learning rate is skipped: step it after training"
    last = loop.node.body[-1]
    here = not event.via and values.kind(source, event.expr) if event.expr is not None else False
    return source.hit(event.node, message, *(edits.move_after(source, event.node, last) if here else ()))


def watch(step: Step) -> Alarm | None:
    early = [one for one in step.record.schedulers if one.stepped_at and one.stepped_at[0] == 0]
    if step.number > 3 or not early or step.run.counts["GradScaler.step"]:
        return None
    told = f"{early[0].kind}.step() runs before the first optimizer.step(), so the first learning rate is never used; step it after"
    return Alarm(told, at=early[0].step_place, evidence=f"learning rate {step.rates[0]:g} at the first step")
