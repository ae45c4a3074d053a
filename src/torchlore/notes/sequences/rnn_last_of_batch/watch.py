"""What a running program shows of it."""

import weakref
from typing import Annotated

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "LSTM", "GRU", "RNN", "__getitem__"]) -> Alarm | None:
    if call.name != "__getitem__":
        out = call.result[0] if isinstance(call.result, tuple) else None
        if getattr(out, "dim", int)() == 3:
            call.notes["out"] = (weakref.ref(out), call.owner.batch_first)
        return None
    ref, batch_first = call.notes.get("out", (None, False))
    if ref is None or call.args[0] is not ref():
        return None
    index = call.args[1]
    first, second = (*index, None, None)[:2] if isinstance(index, tuple) else (index, None)
    if batch_first:
        wrong = isinstance(first, int) and first == -1
    else:
        wrong = isinstance(first, slice) and first == slice(None) and isinstance(second, int) and second == -1
    if not wrong or 1 in call.args[0].shape[:2]:
        return None
    better = "out[:, -1]" if batch_first else "out[-1]"
    return Alarm(
        f"the output is {tuple(call.args[0].shape)} with batch_first={batch_first}: this takes the last sample of the batch and "
        f"not the last time step; write {better}",
        because=("batch-first-forgotten",),
    )
