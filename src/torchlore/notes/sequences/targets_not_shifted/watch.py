"""What a running program shows of it."""

import weakref
from typing import TYPE_CHECKING, Annotated

from torchlore.watch.pictures import Alarm, Call

if TYPE_CHECKING:
    from torch import Tensor


def _are_places(ids: "Tensor") -> bool:
    """Positions, or one number for a whole sentence: they are added to the embedded words."""
    return ids.dim() < 2 or len(ids) < 2 or (ids.device.type == "cpu" and bool((ids[0] == ids[1]).all()))


def watch(
    call: Annotated[Call, "embedding", "cross_entropy", "LSTM", "GRU", "RNN", "TransformerEncoder"],
) -> Alarm | None:
    if call.name == "embedding":
        ids = call.argument(0, "input")
        if not _are_places(ids):
            call.notes["ids"] = weakref.ref(ids) if ids.dim() == 2 and ids.device.type == "cpu" else None
        return None
    if call.group == "layer":
        ref, given = call.notes.get("ids"), call.argument(1, "src")
        ids = ref() if ref is not None else None
        if ids is not None and sorted(getattr(given, "shape", ())[:2]) != sorted(ids.shape):
            call.notes["ids"] = None  # a picture or a start was put before the words: the places are others
        return None
    ref, target = call.notes.pop("ids", None), call.target
    ids = ref() if ref is not None else None
    if (
        ids is None
        or target is None
        or target.is_floating_point()
        or target.numel() != ids.numel()
        or min(ids.shape) < 2
    ):
        return None
    same = bool((target.reshape(ids.shape) == ids).all()) and ids.unique().numel() >= 8
    if not call.times(2, same):
        return None
    return Alarm(
        "each target is the input of the same place, so the model learns to copy; predict tokens[:, 1:] from tokens[:, :-1]",
        certain=False,
    )
