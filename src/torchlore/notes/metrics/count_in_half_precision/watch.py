"""What a running program shows of it."""

from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call

_EXACT = {"torch.bfloat16": 256, "torch.float16": 2048}  # up to here every whole number has its own bits


def watch(call: Annotated[Call, "__iadd__", "add_", "add", "__add__", "__radd__"]) -> Alarm | None:
    """`correct += (scores.argmax(1) == labels).sum()` where `correct` is too large for its type."""
    total, end = call.result, _EXACT.get(str(getattr(call.result, "dtype", "")), 0)
    if not end or total.ndim or total.requires_grad or not total.is_cpu or abs(float(total)) < end:
        return None
    if not call.times(2, any(_is_whole(one) for one in call.args[:2])):
        return None
    kind = str(total.dtype).removeprefix("torch.")
    told = f"this count is {kind}, where {end} + 1 is {end}, so what is added up stands still or moves in wrong steps; count in torch.long"
    return Alarm(told, evidence=f"it is {float(total):g}")


def _is_whole(value: Any) -> bool:
    """A number of samples or hits: an integer, or a tensor of integers."""
    if isinstance(value, int):
        return value != 0
    return str(getattr(value, "dtype", "")) in ("torch.int64", "torch.int32", "torch.bool")
