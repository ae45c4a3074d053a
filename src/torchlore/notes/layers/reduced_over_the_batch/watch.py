"""What a running program shows of it."""

import weakref
from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call

_REDUCES = ("mean", "std", "norm", "sum")


def watch(call: Annotated[Call, "mean", "std", "norm", "sum", "sub", "div", "__truediv__", "__sub__"]) -> Alarm | None:
    """Inside a network a number is taken over a whole batch and then off, or divided into, every sample of it."""
    if call.name in _REDUCES:
        given: Any = call.args[0] if call.args else None
        batched = getattr(given, "dim", int)() >= 2 and given.shape[0] > 1
        if batched and call.modules and getattr(call.result, "dim", lambda: 1)() == 0:
            call.notes["reduced"] = (weakref.ref(call.result), call.name, tuple(given.shape))
        return None
    ref, name, shape = call.notes.get("reduced", (None, "", ()))
    if ref is None or len(call.args) < 2 or call.args[1] is not ref() or not call.modules:
        return None
    kind = type(call.modules[-1]).__name__
    sample_by_sample = tuple(call.result.shape)[:1] == shape[:1] and call.result.dim() >= 2
    if not sample_by_sample or "loss" in kind.lower() or (call.name in ("sub", "__sub__")) != (name == "mean"):
        return None
    return Alarm(
        f"{name}() of {shape} goes over all {shape[0]} samples of the batch, so in `{kind}` each one's output depends on the "
        "others; give it dim=-1, keepdim=True",
        certain=False,
    )
