"""What a running program shows of it."""

import weakref
from typing import Annotated

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "Module.load_state_dict", "Module.apply", "forward"]) -> Alarm | None:
    loaded = call.notes.setdefault("loaded", {})
    if call.name == "Module.load_state_dict":
        if call.error is None:
            wide = [(weakref.ref(p), p._version) for p in call.owner.parameters() if p.dim() > 1]  # noqa: SLF001 - the counter of writes
            loaded[id(call.owner)] = (weakref.ref(call.owner), wide, call.run.steps)
        return None
    ref, wide, steps = loaded.get(id(call.owner), (None, (), 0))
    if ref is None or ref() is not call.owner:
        return None
    if call.name == "forward" or steps != call.run.steps or call.run.counts["DistributedDataParallel"]:
        del loaded[id(call.owner)]
    if call.name == "forward" or steps != call.run.steps:
        return None
    changed = sum(p._version != version for one, version in wide if (p := one()) is not None)  # noqa: SLF001 - see above
    if not wide or changed < 0.8 * len(wide):
        return None
    return Alarm(
        f"{changed} of the {len(wide)} weights that were loaded are written over here; initialise before load_state_dict()",
    )
