"""What a running program shows of it."""

from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "add_", "lerp_", "copy_", "sub"]) -> Alarm | None:
    """A parameter is mixed with, or set against, a second tensor that is its own memory."""
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
        "`p.detach().clone()`"
    )


def _same_memory(one: Any, other: Any) -> bool:
    if not hasattr(one, "data_ptr") or not hasattr(other, "data_ptr") or one is other:
        return False
    return bool(one.numel() > 1 and one.data_ptr() == other.data_ptr() and one.shape == other.shape)
