"""What a running program shows of it."""

import weakref
from typing import Annotated

from torchlore.watch.pictures import Alarm, Call


def watch(
    call: Annotated[
        Call,
        "Linear",
        "Conv1d",
        "Conv2d",
        "Conv3d",
        "Embedding",
        "LSTM",
        "GRU",
        "LayerNorm",
        "BatchNorm1d",
        "BatchNorm2d",
    ],
) -> Alarm | None:
    if len(call.modules) < 2 or id(call.owner) in call.notes.get("known", ()):
        return None
    if any(one is call.owner for one in call.modules[0].modules()):
        call.notes["known"] = {id(one) for module in call.run.modules() for one in module.modules()}
        return None
    before = call.memory.get("before")
    call.memory["before"] = weakref.ref(call.owner)
    made_anew = before is not None and before() is None
    held = call.run.ever_held()
    if not made_anew or any(id(p) in held or not p.requires_grad for p in call.owner.parameters()):
        return None
    return Alarm(
        f"this {call.name} is another one in every forward: its weights are random and never trained; make it in `__init__`"
    )
