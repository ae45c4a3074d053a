"""What a running program shows of it."""

from typing import Any

from torchlore.watch.pictures import Alarm, Step


def watch(step: Step) -> Alarm | None:
    if step.number != 6 or len(step.trainable) > 2000:
        return None
    seen: dict[tuple[Any, ...], Any] = {}
    for one in step.trainable:
        weight, grad = one.tensor, one.grad
        if weight.dim() < 2 or weight.numel() < 8 or weight.device.type != "cpu" or grad is None or grad.is_sparse:
            continue
        twin = seen.setdefault((*weight.shape, *weight.flatten()[:8].tolist()), one)
        if twin is one or not bool((weight == twin.tensor).all()) or not bool((grad == twin.grad).all()):
            continue
        if bool(grad.any()) and bool((weight != weight.flatten()[0]).any()):
            return Alarm(
                f"{twin.name} and {one.name} have the same weights and the same gradients after {step.number} steps, so they "
                "stay equal for ever; start them from different random numbers",
                at=step.record.place,
            )
    return None
