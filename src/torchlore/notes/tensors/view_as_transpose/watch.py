"""What a running program shows of it."""

from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call


def watch(
    call: Annotated[
        Call, "view", "reshape", "LSTM", "GRU", "RNN", "matmul", "__matmul__", "bmm", "scaled_dot_product_attention"
    ],
) -> Alarm | None:
    if call.name in ("LSTM", "GRU", "RNN"):
        _keep(call)
        return None
    if call.name not in ("view", "reshape"):
        return _attended(call)
    _keep_heads(call)
    old, new = tuple(call.args[0].shape), tuple(call.result.shape)
    if told := _mixed(call, old, new):
        return Alarm(f"this view of {old} as {new} keeps the order of the numbers: {told}")
    permuted = len(old) > 2 and old != new and sorted(old) == sorted(new)
    merged = len(old) == 4 and new == (old[0], old[2], old[1] * old[3]) and old[1] != old[2]
    if 1 in old or not (permuted or merged):
        return None
    swap = "the heads are merged without being moved back: transpose first" if merged else "use transpose or permute"
    return Alarm(f"this view of {old} as {new} keeps the order of the numbers and swaps no dimensions; {swap}")


def _keep(call: Call) -> None:
    """Where the last states of a recurrent net lie, (layers, batch, hidden)."""
    state = call.result[1] if isinstance(call.result, tuple) and len(call.result) == 2 else ()
    parts: tuple[Any, ...] = state if isinstance(state, tuple) else (state,)
    kept = call.notes.setdefault("states", [])
    kept.extend((one.data_ptr(), tuple(one.shape)) for one in parts if hasattr(one, "data_ptr"))
    del kept[:-8]


def _keep_heads(call: Call) -> None:
    """`(batch, words, size)` cut into `(batch, heads, words, size of a head)` without a transpose: wrong if it attends."""
    old, new = tuple(call.args[0].shape), tuple(call.result.shape)
    if len(old) != 3 or len(new) != 4 or 1 in (*old, *new) or old[1] == new[1]:
        return
    if new[0] == old[0] and new[2] == old[1] and call.args[0].is_contiguous():
        kept = call.notes.setdefault("heads", [])
        kept.append((call.result.data_ptr(), new, old, call.place))
        del kept[:-8]


def _attended(call: Call) -> Alarm | None:
    """Whether queries that were cut into heads so meet keys."""
    given: Any = call.args[0] if call.args else None
    key = (given.data_ptr(), tuple(given.shape)) if hasattr(given, "data_ptr") else None
    found = next((one for one in call.notes.get("heads", ()) if one[:2] == key), None)
    if found is None:
        return None
    _, new, old, place = found
    told = f"this view of {old} as {new} keeps the order of the numbers, so a head gets pieces of several words; view as {(old[0], old[1], new[1], new[3])}, then transpose(1, 2)"
    return Alarm(told, at=place)


def _mixed(call: Call, old: tuple[int, ...], new: tuple[int, ...]) -> str:
    """What gets mixed where a dimension that stands first or second is taken for the last."""
    given = call.args[0]
    pixels = len(old) == 4 and len(new) == 2 and new[1] == old[1] and min(old[0], old[1], old[2] * old[3]) > 1
    if pixels and call.made_by(given) == "convolution" and given.is_contiguous():
        return "a row has pixels of one class, not the classes of one pixel; permute(0, 2, 3, 1) first"
    rows = new[:2] if new[2:] == (1,) else new
    states = len(old) == 3 and rows == (old[1], old[0] * old[2]) and min(old[:2]) > 1 and old[0] != old[1]
    if states and (given.data_ptr(), old) in call.notes.get("states", ()):
        return "the states of different samples come into one row; transpose(0, 1) first"
    return ""
