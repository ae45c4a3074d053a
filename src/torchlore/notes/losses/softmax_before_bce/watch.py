"""What a running program shows of it."""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "binary_cross_entropy"]) -> Alarm | None:
    if call.made_by(call.input) != "softmax" or call.input.dim() < 2:
        return None
    made = call.input.grad_fn
    dim = getattr(made, "_saved_dim", None)
    width = call.input.shape[1] if dim is None else call.input.shape[dim if dim < call.input.dim() else -1]
    if width < 2:
        return None
    return Alarm(
        f"binary_cross_entropy gets a softmax over {width} outputs, which must share one unit of probability; use a sigmoid for "
        "several labels, cross_entropy for one of many",
        at=call.origin(call.input),
        certain=False,
    )
