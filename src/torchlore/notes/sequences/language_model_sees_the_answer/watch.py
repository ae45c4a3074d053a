"""What a running program shows of it."""

import weakref
from typing import Annotated

from torchlore.watch.pictures import Alarm, Call


def watch(
    call: Annotated[Call, "embedding", "MultiheadAttention", "scaled_dot_product_attention", "cross_entropy"],
) -> Alarm | None:
    if call.name == "embedding":
        ids = call.argument(0, "input")
        if ids.dim() == 2 and ids.device.type == "cpu" and min(ids.shape) > 1:
            call.notes["ids"] = call.notes.get("ids") or weakref.ref(ids)
        return None
    if call.name != "cross_entropy":
        inner = call.modules and type(call.modules[-1]).__name__ == "MultiheadAttention"
        if call.name == "MultiheadAttention" or not inner:
            causal = call.argument(6 if call.name == "MultiheadAttention" else 3, "attn_mask") is not None
            causal = causal or bool(call.kwargs.get("is_causal"))
            same = call.argument(1, "query") is call.argument(2, "key") or call.name != "MultiheadAttention"
            call.notes["open"] = None if causal or not same else call.place
        return None
    seen, ids, target = call.notes.pop("open", None), call.notes.pop("ids", int)(), call.target
    if seen is None or ids is None or isinstance(ids, int) or target is None or target.numel() != ids.numel():
        return None
    target = target.reshape(ids.shape) if not target.is_floating_point() else ids
    along_rows, down = (target[:, :-1] == ids[:, 1:]).float().mean(), (target[:-1] == ids[1:]).float().mean()
    if ids.unique().numel() < 8 or max(float(along_rows), float(down)) < 0.95:
        return None
    return Alarm(
        "the target is the input moved by one place, and attention without a causal mask sees it; mask the future",
        at=seen,
    )
