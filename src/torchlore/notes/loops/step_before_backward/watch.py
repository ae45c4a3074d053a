"""What a running program shows of it."""

from torchlore.watch.pictures import Alarm, Step


def watch(step: Step) -> Alarm | None:
    if step.number == 1 and not step.closure and "B" not in step.order:
        step.memory["first"] = step.place
    if step.number != 2 or step.place is None or step.memory.get("first") != step.place:
        return None
    return Alarm("step() runs before the first backward(): it applies the gradients of the turn before; move it behind")
