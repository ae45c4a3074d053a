"""After `scaler.scale(loss).backward()` the step belongs to the scaler: `scaler.step(optimizer)`.

The scaler multiplies the loss, and with it every gradient, by 65,536 or so. Only `scaler.step` divides them again; it also
leaves a step out whose gradients overflowed. A plain `optimizer.step()` takes the scaled gradients as they are: SGD jumps out
of the valley at once, Adam hides the factor and only loses its `eps`, its clipping and its protection against `inf`.

```python
scaler.scale(loss).backward()
scaler.step(optimizer)
scaler.update()
```

After `scaler.unscale_(optimizer)` the gradients are the true ones, and `scaler.step` still skips what is not finite. With
bfloat16 no scaler is needed at all.
"""

from collections.abc import Iterator

from torchlore.check import edits, flow, frameworks, tree, values
from torchlore.check.events import Event
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/IAHispano/Applio/pull/860",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["moved"] / good["moved"] > 1000
    assert good["moved"] < 1


def find(source: Source) -> Iterator[Hit]:
    if "scale(" not in source.text:
        return
    for call in source.methods("scale"):
        if (
            tree.is_statement(source, call)
            and values.sure(source, tree.receiver(call), "scaler", weak=True)
            and call.args
        ):
            code = source.code(call)
            yield source.hit(call, f"`{code}` gives the scaled loss, and it is thrown away: write `{code}.backward()`")
    seen: set[object] = set()
    for events in flow.rounds(source):
        for place, event in enumerate(events):
            if event.what != "backward" or event.detail != "scaler" or frameworks.owned(source, event.at):
                continue
            step = _next_step(events[place + 1 :], event)
            if step is not None and step.source is source and step.node not in seen:
                seen.add(step.node)
                yield _hit(source, event, step, updated=any(one.what == "update" for one in events))


def _next_step(events: list[Event], scaled: Event) -> Event | None:
    """The optimizer's own step on these gradients, if it comes before anything that unscales them."""
    for event in events:
        if event.what in ("backward", "unscale", "update") or (event.what == "step" and event.detail == "scaler"):
            return None
        if event.what == "step" and not event.detail and not flow.exclusive(event, scaled):
            return event
    return None


def _hit(source: Source, scaled: Event, step: Event, *, updated: bool) -> Hit:
    optimizer = source.code(step.expr) if step.expr is not None else "optimizer"
    scaler = _scaler(scaled)
    message = f"these gradients are still multiplied by the scale of `{scaler}`: write `{scaler}.step({optimizer})`"
    near = scaled.source is source and tree.function(source, scaled.node) is tree.function(source, step.node)
    fix = [edits.replace(source, step.node, f"{scaler}.step({optimizer})")] if near else []
    fix += [edits.insert_after(source, step.node, f"{scaler}.update()")] if near and not updated else []
    return source.hit(step.node, message, *fix)


def _scaler(scaled: Event) -> str:
    """`scaler` of `scaler.scale(loss).backward()`."""
    return scaled.source.code(scaled.node.func.value.func.value)  # type: ignore[attr-defined]  # the event is such a call
