"""What a running program shows of it."""

import weakref
from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "softmax", "bmm", "matmul", "__matmul__", "mul", "__rmul__", "sum"]) -> Alarm | None:
    if call.name == "softmax":
        dim = call.argument(1, "dim")
        if isinstance(dim, int) and hasattr(call.result, "data_ptr"):
            kept = call.notes.setdefault("made", {})
            kept[call.result.data_ptr()] = (dim % call.result.dim(), weakref.ref(call.result), call.place)
            while len(kept) > 8:
                del kept[next(iter(kept))]
            scored = call.made_by(call.args[0]) in ("addmm", "mm", "unsafeview", "mv", "view")
            call.notes["scores"] = call.result.data_ptr() if scored else 0
        return None
    if call.name in ("mul", "__rmul__", "sum"):
        return _summed(call)
    weights = call.args[0]
    if getattr(weights, "dim", int)() not in (3, 4):
        return None
    dim, place = _origin(call, weights)
    if place is None or not _wrong(weights, dim):
        return None
    told = "the samples of the batch" if dim == 0 else "the queries" if dim == weights.dim() - 2 else "the heads"
    return Alarm(
        f"these attention weights, {tuple(weights.shape)}, were shared out over {told}, dim={dim}: each query's add up to "
        "something else than 1; write softmax(..., dim=-1)",
        at=place,
    )


def _origin(call: Call, weights: Any) -> tuple[int, Any]:
    """The dimension and the line of the softmax that made these, or 2 and None."""
    dim, ref, place = call.notes.get("made", {}).get(weights.data_ptr(), (2, None, None))
    made = ref() if ref is not None else None  # None where its memory may be another tensor's by now
    return (dim, place) if made is not None and made.numel() == weights.numel() else (2, None)


def _wrong(weights: Any, dim: int) -> bool:
    """Over the batch, or over the queries of (batch, heads, n, n); what was transposed since was meant so."""
    batch, queries, keys = (int(weights.shape[n]) for n in (0, -2, -1))
    over_batch = dim == 0 and batch > 1 and keys > 1
    over_queries = 0 < dim < weights.dim() - 1 and queries == keys > 1 and weights.shape[dim] > 1
    return bool((over_batch or over_queries) and weights.stride(-1) == 1)


def _summed(call: Call) -> Alarm | None:
    """Scores of a layer, (batch, steps, 1), shared out over the batch, times (batch, steps, n), added up over the steps."""
    if call.name == "sum":
        pointer, place, shape = call.notes.get("product", (0, None, ()))
        summed = call.args[0] if call.args else None
        over = call.argument(1, "dim")
        if place is None or getattr(summed, "data_ptr", int)() != pointer or over not in (1, [1], (1,)):
            return None
        told = (
            f"these weights, {shape}, were shared out over the samples of the batch, dim=0, and are added up over dim=1"
        )
        return Alarm(f"{told}; write softmax(..., dim=1)", at=place)
    for weights, given in (call.args[:2], call.args[1::-1]) if len(call.args) > 1 else ():
        shape = tuple(getattr(weights, "shape", ()))
        fits = len(shape) == 3 and shape[2] == 1 < shape[0] and shape[1] > 1 and getattr(given, "ndim", 0) == 3
        if fits and given.shape[:2] == weights.shape[:2] and weights.data_ptr() == call.notes.get("scores"):
            dim, place = _origin(call, weights)
            if dim == 0 and place is not None:
                call.notes["product"] = (call.result.data_ptr(), place, shape)
    return None
