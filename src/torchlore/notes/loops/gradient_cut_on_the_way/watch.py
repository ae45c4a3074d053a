"""What a running program shows of it."""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call


def watch(
    call: Annotated[Call, "detach", "data", "numpy", "tolist", "item", "argmax", "Optimizer.step"],
) -> Alarm | None:
    cuts = call.notes.setdefault("cuts", {})  # line -> what was cut off there, and the operation
    if call.name != "Optimizer.step":
        given = call.args[0]
        if getattr(given, "grad_fn", None) is not None and call.place not in cuts and len(cuts) < 40:
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
    return Alarm(
        f"`{name}` cuts the graph here, and {what} never get a gradient; leave it out where the loss depends on it",
        at=place,
        certain=False,
        evidence=f"{len(lost)} parameters without a gradient in {count} steps",
    )
