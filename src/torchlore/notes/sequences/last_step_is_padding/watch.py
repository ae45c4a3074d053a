"""What a running program shows of it."""

import weakref
from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "LSTM", "GRU", "RNN", "__getitem__"]) -> Alarm | None:
    if call.name != "__getitem__":
        given = call.args[1] if len(call.args) > 1 else None
        out = call.result[0] if isinstance(call.result, tuple) else None
        if getattr(call.owner, "batch_first", False) and hasattr(out, "data_ptr") and (share := _padded(given)):
            call.notes["made"] = (weakref.ref(out), share)
        return None
    made, share = call.notes.get("made", (None, 0.0))
    if made is None or made() is not call.args[0] or not _is_last(call.args[1]):
        return None
    told = f"{share:.0%} of these sequences end in padding, so [:, -1] is what the RNN says after it"
    return Alarm(f"{told}; take out[torch.arange(len(lengths)), lengths - 1], or pack the batch")


def _padded(given: Any) -> float:
    """The share of sequences that end in rows of zeros, where others do not: what `padding_idx` makes of padding."""
    if getattr(given, "ndim", 0) != 3 or given.device.type != "cpu" or given.shape[0] < 2 or given.shape[1] < 3:
        return 0.0
    empty = (given.detach() == 0).all(dim=2)
    ends = empty[:, -1]
    inside = empty & ~empty.flip(1).cumprod(1).flip(1).bool()  # a gap in the middle is data
    share = ends.float().mean().item()
    return share if 0 < share < 1 and not inside.any() and not empty.all(dim=1).any() else 0.0


def _is_last(index: Any) -> bool:
    """`[:, -1]` and `[:, -1, :]`."""
    whole = isinstance(index, tuple) and len(index) in (2, 3) and isinstance(index[1], int) and index[1] == -1
    return whole and isinstance(index[0], slice) and index[0] == slice(None)
