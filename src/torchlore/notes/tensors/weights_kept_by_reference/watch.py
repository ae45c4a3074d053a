"""What a running program shows of it."""

import weakref
from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call, Place


def watch(call: Annotated[Call, "add_", "lerp_", "copy_", "sub", "data", "detach"]) -> Alarm | None:
    """A parameter is mixed with, or set against, a second tensor that is its own memory."""
    if call.name in ("data", "detach"):
        _remember(call)
        return None
    one, other = call.args[:2] if len(call.args) > 1 else (None, None)
    if not _same_memory(one, other) or not call.run.steps:
        return None
    held = [
        p
        for record in call.run.optimizers
        if record.optimizer
        for group in record.optimizer.param_groups
        for p in group["params"]
    ]
    if not any(p.data_ptr() == one.data_ptr() and p.shape == one.shape for p in held):
        return None
    return Alarm(
        f"both sides of this are one memory, that of a parameter of shape {tuple(one.shape)}, so nothing was kept: keep "
        "`p.detach().clone()`",
        at=_taken(call, one, other),
        evidence=f"it shows in line {call.place.line}" if call.place else "",
    )


def _remember(call: Call) -> None:
    """Who took a parameter's memory before the first step: those may be kept."""
    kept = call.notes.setdefault("taken", {})
    if not call.run.steps and len(kept) < 4096 and hasattr(call.result, "data_ptr"):
        kept[id(call.result)] = (weakref.ref(call.result), call.place)


def _taken(call: Call, *tensors: Any) -> Place | None:
    """The line that took one of these, None where it was not seen."""
    for one in tensors:
        ref, place = call.notes.get("taken", {}).get(id(one), (None, None))
        if ref is not None and ref() is one:
            return place  # type: ignore[no-any-return]  # what was remembered
    return None


def _same_memory(one: Any, other: Any) -> bool:
    if not hasattr(one, "data_ptr") or not hasattr(other, "data_ptr") or one is other:
        return False
    return bool(one.numel() > 1 and one.data_ptr() == other.data_ptr() and one.shape == other.shape)
