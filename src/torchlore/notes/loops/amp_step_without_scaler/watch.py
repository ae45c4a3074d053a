"""What a running program shows of it."""

from torchlore.watch.pictures import Alarm, Step


def watch(step: Step) -> Alarm | None:
    scaled = [event for event in step.events if event.name == "GradScaler.scale" and event.facts.get("enabled")]
    if step.in_a_row(2, bool(scaled) and "U" not in step.order and "B" in step.order and not step.closure):
        return Alarm(
            "the gradients of a scaled loss are applied as they are, tens of thousands of times too large; call "
            "scaler.step(optimizer) and scaler.update() instead of optimizer.step()"
        )
    return None
