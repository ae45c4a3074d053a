"""What a running program shows of it."""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "eq", "__eq__"]) -> Alarm | None:
    if len(call.args) < 2:
        return None
    one, other = call.args[:2]
    shapes = [tuple(getattr(part, "shape", ())) for part in (one, other)]
    flat, column = sorted(shapes, key=len)
    if len(flat) != 1 or flat[0] < 2 or column != (flat[0], 1):
        return None
    if one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr():  # which pairs have the same label
        return None
    return Alarm(
        f"comparing {shapes[0]} with {shapes[1]} gives {flat[0]} x {flat[0]} answers, so the accuracy is wrong; give both "
        "the same shape, labels.view(-1)"
    )
