"""What a running program shows of it."""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "clip_grad_norm_"]) -> Alarm | None:
    norm = call.result
    if norm is None or norm.device.type != "cpu" or not call.run.backwards:
        return None
    living = [one.optimizer for one in call.run.optimizers if one.optimizer is not None]
    some = [p.grad for one in living for group in one.param_groups for p in group["params"][:3] if p.grad is not None]
    empty = float(norm) == 0 and any(grad.is_cpu and not grad.is_sparse and bool(grad.any()) for grad in some)
    if not call.in_a_row(2, empty):
        return None
    return Alarm(
        "clip_grad_norm_ gets no gradient at all although there are some: a generator of parameters that is used up, or another "
        "model's; pass model.parameters() itself",
        evidence="the norm it returns is 0",
    )
