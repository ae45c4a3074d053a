"""What a running program shows of it."""

import weakref
from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call


def _mark(p: Any) -> tuple[int, float]:
    """The counter of writes, and a number of the weight: a write through `.data` is not counted."""
    first = float(p.detach().flatten()[0]) if p.device.type == "cpu" and p.numel() and not p.is_complex() else 0.0
    return p._version, first  # noqa: SLF001 - torch's own counter of writes


def watch(call: Annotated[Call, "Module.load_state_dict", "Module.apply", "forward"]) -> Alarm | None:
    loaded = call.notes.setdefault("loaded", {})
    if call.name == "Module.load_state_dict":
        if call.error is None:
            wide = [(weakref.ref(p), _mark(p)) for p in call.owner.parameters() if p.dim() > 1]
            loaded[id(call.owner)] = (weakref.ref(call.owner), wide, call.run.steps)
        return None
    parts = {id(one) for one in call.owner.modules()} if loaded else set()
    for key in [key for key in loaded if key in parts]:
        ref, wide, steps = loaded[key]
        if ref() is None or call.name == "forward" or steps != call.run.steps:
            del loaded[key]
            continue
        if call.run.counts["DistributedDataParallel"]:
            del loaded[key]
        changed = sum(_mark(p) != mark for one, mark in wide if (p := one()) is not None)
        if wide and changed >= 0.8 * len(wide):
            return Alarm(
                f"{changed} of the {len(wide)} weights that were loaded are written over here; initialise before load_state_dict()",
            )
    return None
