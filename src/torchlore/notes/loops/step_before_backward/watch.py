"""What a running program shows of it."""

from torchlore.watch.pictures import Alarm, Step


def watch(step: Step) -> Alarm | None:
    if step.number == 1 and not step.closure and "B" not in step.order:
        step.memory["first"] = step.place
    if step.number >= 20:
        return _never_stepped(step)
    if step.number != 2 or step.place is None or step.memory.get("first") != step.place:
        return None
    return Alarm("step() runs before the first backward(): it applies the gradients of the turn before; move it behind")


def _never_stepped(step: Step) -> Alarm | None:
    """An optimizer that is cleared beside this one, gets gradients, and has made no step yet."""
    idle = [one for one in step.run.optimizers if not one.steps and one.optimizer is not None]
    cleared = (
        {key for event in step.events if event.group == "zero" for key in event.facts["optimizers"]} if idle else ()
    )
    for one in idle:
        stepped = (other.optimizer for other in step.run.optimizers if other.steps)
        moved = {
            id(p) for other in stepped if other is not None for group in other.param_groups for p in group["params"]
        }
        own = [p for group in one.optimizer.param_groups for p in group["params"]]
        waits = one.key in cleared and any(p.grad is not None for p in own) and not any(id(p) in moved for p in own)
        if waits and step.in_a_row(3, true=True, name="waits"):
            told = (
                f"this optimizer is cleared in each turn and has made no step in {step.number} turns: call its step()"
            )
            return Alarm(told, at=one.place)
    return None
