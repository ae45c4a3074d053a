"""What a running program shows of it."""

from typing import Any

from torchlore.watch.pictures import Alarm, Step


def watch(step: Step) -> Alarm | None:
    plain = _unscaled(step)
    if step.in_a_row(2, plain is not None, "plain"):
        return Alarm(
            "this loss is not scaled, as another one of the same step is, and the scaler divides its gradients to almost "
            "nothing; write scaler.scale(loss).backward()",
            at=plain.place,
        )
    scaled = [event for event in step.events if event.name == "GradScaler.scale" and event.facts.get("enabled")]
    if step.in_a_row(2, bool(scaled) and "U" not in step.order and "B" in step.order and not step.closure):
        return Alarm(
            "the gradients of a scaled loss are applied as they are, tens of thousands of times too large; call "
            "scaler.step(optimizer) and scaler.update() instead of optimizer.step()"
        )
    return None


def _unscaled(step: Step) -> Any:
    """A backward pass right behind no `scale`, where there are fewer of these than passes since gradients were zeroed."""
    if "U" not in step.order or "s" in step.order or step.closure:
        return None
    last = max((place for place, one in enumerate(step.events) if one.group == "zero"), default=-1)
    events = step.events[last + 1 :]
    scaled = [one for one in events if one.name == "GradScaler.scale" and one.facts.get("enabled")]
    passes = [place for place, one in enumerate(events) if one.group == "backward"]
    plain = [events[place] for place in passes if not place or events[place - 1].name != "GradScaler.scale"]
    return plain[0] if plain and 0 < len(scaled) < len(passes) else None
