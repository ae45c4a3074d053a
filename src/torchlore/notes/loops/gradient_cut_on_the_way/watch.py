"""What a running program shows of it."""

import weakref
from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call


def watch(
    call: Annotated[Call, "detach", "data", "numpy", "tolist", "item", "argmax", "checkpoint", "Optimizer.step"],
) -> Alarm | None:
    cuts = call.notes.setdefault("cuts", {})  # line -> what was cut off there, and the operation
    if call.name != "Optimizer.step":
        given = call.args[0] if call.args else None
        if call.name == "checkpoint" and (skipped := _unrecorded(call)):
            cuts[call.place] = (skipped, call.name)
        elif getattr(given, "grad_fn", None) is not None and call.place not in cuts and len(cuts) < 40:
            cuts[call.place] = (call.leaves(given), call.name)
        return None
    held = {id(p) for group in call.owner.param_groups for p in group["params"]}
    rows, found = call.notes.setdefault("rows", {}), None
    for place, (refs, name) in cuts.items():
        lost = [p for key, ref in refs.items() if key in held and (p := ref()) is not None]
        key = (place, id(call.owner))
        rows[key] = rows.get(key, 0) + 1 if lost and all(p.grad is None for p in lost) else 0
        if rows[key]:  # the last line that cuts is the one: a discriminator's step cuts before it, and rightly
            found = (place, name, lost, max(rows[key], found[3] if found else 0))
    if found is None or found[3] < 4:
        return None
    place, name, lost, count = found
    names = call.run.parameter_names()
    what = ", ".join(names[id(p)] for p in lost[:3] if id(p) in names) or f"{len(lost)} parameters"
    way_out = "pass use_reentrant=False" if name == "checkpoint" else "leave it out where the loss depends on it"
    return Alarm(
        f"`{name}` cuts the graph here, and {what} never get a gradient; {way_out}",
        at=place,
        certain=False,
        evidence=f"{len(lost)} parameters without a gradient in {count} steps",
        because=("step-before-backward", "zero-grad-between-backward-and-step"),
    )


def _unrecorded(call: Call) -> dict[int, Any]:
    """The weights of a checkpointed block whose result has no graph: the re-entrant form looks at the inputs alone."""
    block: Any = getattr(call.args[0], "__self__", call.args[0]) if call.args else None
    if not call.grad_enabled or getattr(call.result, "requires_grad", True) or not hasattr(block, "parameters"):
        return {}
    return {id(p): weakref.ref(p) for p in block.parameters() if p.requires_grad}
