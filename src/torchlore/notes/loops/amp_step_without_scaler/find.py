"""The rule of amp-step-without-scaler."""

import ast
from collections.abc import Iterator

from torchlore.check import edits, flow, follow, frameworks, tree, values
from torchlore.check.events import Event
from torchlore.check.source import Hit, Source

WORDS = ("scale|GradScaler",)


def find(source: Source) -> Iterator[Hit]:
    if not any(source.methods("scale")):
        yield from _never_scaled(source) if "GradScaler" in source.text and any(source.methods("backward")) else ()
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
        plain = _unscaled(events)
        if plain is not None and plain.source is source and plain.node not in seen:
            seen.add(plain.node)
            told = "another loss of this step is scaled and this one is not, so the scaler divides its gradients to almost nothing: scale it too"
            yield source.hit(plain.node, told)
        for place, event in enumerate(events):
            if event.what != "backward" or event.detail != "scaler" or frameworks.owned(source, event.at):
                continue
            step = _next_step(events[place + 1 :], event) if not _stands_in(event) else None
            if step is not None and step.source is source and step.node not in seen:
                seen.add(step.node)
                yield _hit(source, event, step, updated=any(one.what == "update" for one in events))


def _never_scaled(source: Source) -> Iterator[Hit]:
    """`loss.backward()` and `scaler.step(optimizer)` in a file that scales nothing."""
    told = "scales no loss, so the step divides its gradients to almost nothing"
    for events in flow.rounds(source) if "scale(" not in source.text else ():
        steps = [one for one in events if one.what == "step" and one.detail == "scaler" and one.source is source]
        plain = next((one for one in events if one.what == "backward" and not one.detail), None)
        node = steps[0].node if steps and plain is not None and plain.source is source else None
        if node is None or plain is None or frameworks.owned(source, node) or not isinstance(node, ast.Call):
            continue
        scaler = tree.receiver(node)
        made = source.values(scaler)
        calls = [one.node for one in made if isinstance(one.node, ast.Call) and one.name.endswith(".GradScaler")]
        if calls and len(calls) == len(made) and all(tree.lacks(one, None, "enabled") for one in calls):
            name = source.code(scaler)
            yield source.hit(plain.node, f"`{name}` {told}: write `{name}.scale(loss).backward()`")
            return


def _unscaled(events: list[Event]) -> Event | None:
    """A backward pass without the scaler beside one with it, where the scaler makes the only step."""
    passes = [one for one in events if one.what == "backward"]
    steps = [one for one in events if one.what == "step"]
    scaled = [one for one in passes if one.detail == "scaler"]
    alone = len(steps) == 1 and steps[0].detail == "scaler" and not any(one.conditions for one in (*passes, *steps))
    if not alone or not scaled or len({len(one.loops) for one in (*passes, *steps)}) != 1:
        return None
    turn = events[: events.index(steps[0])]
    zeroed = max((place for place, one in enumerate(turn) if one.what == "zero_grad"), default=-1)
    last = [
        one for one in turn[zeroed + 1 :] if one.what == "backward"
    ]  # what was zeroed since belongs to another step
    both = any(one.detail == "scaler" for one in last)
    return next((one for one in last if not one.detail), None) if both else None


def _next_step(events: list[Event], scaled: Event) -> Event | None:
    """The optimizer's own step on these gradients, if it comes before anything that unscales them."""
    for event in events:
        if event.what in ("backward", "unscale", "update") or (event.what == "step" and event.detail == "scaler"):
            return None
        home = tree.class_of(event.source, event.node)  # `class NullScaler`, whose step is the optimizer's
        if home is not None and "scaler" in home.name.lower():
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
    """`scaler` of `scaler.scale(loss).backward()`, also where the scaled loss has a name."""
    return scaled.source.code(_scaled(scaled).func.value)  # type: ignore[attr-defined]  # the event is such a call


def _stands_in(scaled: Event) -> bool:
    """`DummyScaler().scale(loss)`, a class of one's own, which is not one of two; `GradScaler(enabled=False)`, which scales nothing."""
    made = _scaled(scaled)
    known = scaled.source.values(tree.receiver(made)) if isinstance(made, ast.Call) else ()
    switches = [tree.argument(one.node, None, "enabled") for one in known if isinstance(one.node, ast.Call)]
    if switches and all(one is not None and tree.literal(one) is False for one in switches):
        return True
    if not isinstance(made, ast.Call) or flow.called(scaled.source, made) is None:
        return False
    return len(scaled.source.values(tree.receiver(made))) == 1


def _scaled(scaled: Event) -> ast.expr:
    """`scaler.scale(loss)` of `scaler.scale(loss).backward()`."""
    return follow.followed(scaled.source, scaled.node.func.value)  # type: ignore[attr-defined]  # the event is such a call
