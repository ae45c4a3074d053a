"""What a running program shows of it."""

import weakref
from typing import Annotated

from torchlore.watch.pictures import Alarm, Call


def watch(
    call: Annotated[
        Call,
        "data",
        "detach",
        "norm",
        "linalg_vector_norm",
        "pow",
        "square",
        "sum",
        "mean",
        "abs",
        "mul",
        "add",
        "radd",
    ],
) -> Alarm | None:
    marked = call.notes.setdefault("marked", {})  # what was computed from weights without a graph -> the line
    used = [one for one in call.args[:2] if id(one) in marked and marked[id(one)][0]() is one]
    if call.name in ("data", "detach"):
        if type(call.args[0]).__name__ == "Parameter" and len(marked) < 2000:
            marked[id(call.result)] = (weakref.ref(call.result), call.place)
        return None
    if not used or not hasattr(call.result, "requires_grad"):
        return None
    place = marked[id(used[0])][1]
    if call.name != "add" or not call.result.requires_grad:
        marked[id(call.result)] = (weakref.ref(call.result), place)
        return None
    if call.result.dim() or call.made_by(call.result) != "add":
        return None
    return Alarm(
        "a penalty on weights without a graph is added to the loss and teaches nothing; leave .data out", at=place
    )
