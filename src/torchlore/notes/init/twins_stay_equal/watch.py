"""What a running program shows of it."""

from typing import Any

from torchlore.watch.pictures import Alarm, Step


def watch(step: Step) -> Alarm | None:
    if step.number != 6 or len(step.trainable) > 2000:
        return None
    seen: dict[tuple[int, ...], list[Any]] = {}
    for one in step.trainable:
        weight, grad = one.tensor, one.grad
        if weight.dim() < 2 or weight.numel() < 8 or weight.device.type != "cpu" or grad is None or grad.is_sparse:
            continue
        if not bool(grad.any()) or bool((weight == weight.flatten()[0]).all()):
            continue
        for twin in seen.setdefault(tuple(weight.shape), []):
            if bool((weight == twin.tensor).all()) and bool((grad == twin.grad).all()):
                return Alarm(
                    f"{twin.name} and {one.name} have the same weights and the same gradients after {step.number} steps, so they "
                    "stay equal for ever; start them from different random numbers",
                    at=step.record.place,
                )
        seen[tuple(weight.shape)].append(one)
    return None
