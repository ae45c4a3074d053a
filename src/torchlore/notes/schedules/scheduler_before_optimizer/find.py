"""The rule of scheduler-before-optimizer."""

import ast
from collections.abc import Iterator

from torchlore.check import edits, flow, frameworks, tree, values
from torchlore.check.events import Event
from torchlore.check.flow import LoopFlow
from torchlore.check.source import Hit, Source

WORDS = ("step",)


def find(source: Source) -> Iterator[Hit]:
    if not any(source.methods("step")):
        return
    for loop in flow.loops(source):
        yield from _either_or(source, loop)
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


def _either_or(source: Source, loop: LoopFlow) -> Iterator[Hit]:
    """`if scheduler: scheduler.step()`, `else: optimizer.step()`: with a scheduler nothing is ever trained."""
    steps, scheduled = loop.direct("step"), loop.direct("schedule")
    if len(steps) != 1 or steps[0].source is not source or not scheduled or frameworks.owned(source, loop.node):
        return
    here = tree.statement(source, steps[0].node)
    choice = source.parents.get(here)
    names = {tree.dotted(one.expr) for one in scheduled if one.expr is not None}
    asked = {tree.dotted(part) for part in ast.walk(choice.test)} if isinstance(choice, ast.If) else set()
    apart = any(flow.exclusive(one, steps[0]) for one in scheduled)
    if isinstance(choice, ast.If) and here in choice.orelse and apart and names & asked:
        told = f"with `{min(names & asked)}` the optimizer never steps, only the rate changes: step the optimizer in both cases"
        yield source.hit(steps[0].node, told)


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
