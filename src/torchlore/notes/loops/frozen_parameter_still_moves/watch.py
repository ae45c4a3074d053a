"""What a running program shows of it."""

from torchlore.watch.pictures import Alarm, Step


def watch(step: Step) -> Alarm | None:
    moved = [one for one in step.parameters if not one.tensor.requires_grad and one.grad is not None]
    if not step.in_a_row(2, bool(moved) and any(step.rates)):
        return None
    return Alarm(
        f"{moved[0].name} is frozen and still has a gradient, so {step.record.kind} goes on moving it; set its .grad to None",
        evidence=f"{len(moved)} parameters with requires_grad=False and a gradient",
    )
