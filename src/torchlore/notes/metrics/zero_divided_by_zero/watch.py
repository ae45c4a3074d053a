"""What a running program shows of it."""

from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "div", "__truediv__", "true_divide", "div_", "mean", "sum", "item"]) -> Alarm | None:
    if call.name not in ("mean", "sum", "item"):
        if _empty_share(call.result, call.args):
            call.notes["at"] = (call.place, tuple(call.result.shape))
        return None
    place, shape = call.notes.get("at", (None, ()))
    if place is None or not _has_nan(call.args[0] if call.args else None):
        return None
    call.notes.clear()
    what = "the result" if not shape else f"a value of the result of shape {shape}"
    return Alarm(
        f"0 is divided by 0 here, {what} is NaN, and so is the average that it goes into; add a small number to both, clamp the "
        "count to 1, or leave the empty ones out",
        at=place,
        certain=False,
        evidence=f"`{call.name}` takes it in line {call.place.line}" if call.place else "",
    )


def _has_nan(tensor: Any) -> bool:
    known = getattr(tensor, "is_cpu", False) and tensor.is_floating_point() and 0 < tensor.numel() < 1_000_000
    return bool(known and tensor.isnan().any())


def _empty_share(result: Any, parts: tuple[Any, ...]) -> bool:
    """A NaN where both parts are 0."""
    if not _has_nan(result) or len(parts) < 2:
        return False
    shape = (getattr(parts[0], "shape", ()), getattr(parts[1], "shape", ()))
    if any(len(one) > len(result.shape) for one in shape):
        return False
    return bool((result.isnan() & (parts[1] == 0)).any())
