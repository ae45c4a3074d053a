"""What a running program shows of it."""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "softmax", "log_softmax", "softmin"]) -> Alarm | None:
    scores = call.args[0] if call.args else None
    if scores is None or call.argument(1, "dim") is not None or scores.dim() != 3 or scores.shape[0] < 2:
        return None
    return Alarm(
        f"`{call.name}` without `dim` normalises a 3-D tensor over its first dimension, the batch; add dim=-1",
        evidence=f"its input is {tuple(scores.shape)}",
    )
