"""What a running program shows of it."""

import weakref
from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "softmax", "bmm", "matmul", "__matmul__"]) -> Alarm | None:
    if call.name == "softmax":
        dim = call.argument(1, "dim")
        if isinstance(dim, int) and hasattr(call.result, "data_ptr"):
            kept = call.notes.setdefault("made", {})
            kept[call.result.data_ptr()] = (dim % call.result.dim(), weakref.ref(call.result), call.place)
            while len(kept) > 8:
                del kept[next(iter(kept))]
        return None
    weights = call.args[0]
    if getattr(weights, "dim", int)() != 3:
        return None
    dim, ref, place = call.notes.get("made", {}).get(weights.data_ptr(), (2, None, None))
    made = ref() if ref is not None else None  # None where its memory may be another tensor's by now
    if made is None or made.numel() != weights.numel() or not _wrong(weights, dim):
        return None
    told = "the samples of the batch" if dim == 0 else "the queries"
    return Alarm(
        f"these attention weights, {tuple(weights.shape)}, were shared out over {told}, dim={dim}: each query's add up to "
        "something else than 1; write softmax(..., dim=-1)",
        at=place,
    )


def _wrong(weights: Any, dim: int) -> bool:
    """Over the batch, or over the queries of (batch, n, n); what was transposed since was meant so."""
    batch, queries, keys = weights.shape
    over_batch = dim == 0 and batch > 1 and keys > 1
    over_queries = dim == 1 and queries == keys > 1
    return (over_batch or over_queries) and weights.stride(-1) == 1
