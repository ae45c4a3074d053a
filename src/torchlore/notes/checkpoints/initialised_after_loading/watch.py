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
    ref, wide, steps = loaded.get(id(call.owner), (None, (), 0))
    if ref is None or ref() is not call.owner:
        return None
    if call.name == "forward" or steps != call.run.steps or call.run.counts["DistributedDataParallel"]:
        del loaded[id(call.owner)]
    if call.name == "forward" or steps != call.run.steps:
        return None
    changed = sum(_mark(p) != mark for one, mark in wide if (p := one()) is not None)
    if not wide or changed < 0.8 * len(wide):
        return None
    return Alarm(
        f"{changed} of the {len(wide)} weights that were loaded are written over here; initialise before load_state_dict()",
    )
