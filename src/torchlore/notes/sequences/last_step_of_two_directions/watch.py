"""What a running program shows of it."""

import weakref
from typing import Annotated

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "LSTM", "GRU", "RNN", "__getitem__"]) -> Alarm | None:
    if call.name != "__getitem__":
        out = call.result[0] if isinstance(call.result, tuple) else None
        if getattr(out, "dim", int)() == 3 and call.owner.bidirectional:
            call.notes["out"] = (weakref.ref(out), call.owner.batch_first, call.owner.hidden_size)
        return None
    ref, batch_first, hidden = call.notes.get("out", (None, False, 0))
    if ref is None or call.args[0] is not ref():
        return None
    index = call.args[1] if isinstance(call.args[1], tuple) else (call.args[1],)
    time = (index[1] if len(index) > 1 else None) if batch_first else index[0]
    whole = call.result.shape[-1] == 2 * hidden  # not one direction's half
    if not isinstance(time, int) or time != -1 or not whole or call.args[0].shape[1 if batch_first else 0] < 2:
        return None
    return Alarm(
        f"of these {2 * hidden} numbers the last {hidden} belong to the backward direction, which has read the last step alone "
        "here; join h_n[-2] and h_n[-1]"
    )
