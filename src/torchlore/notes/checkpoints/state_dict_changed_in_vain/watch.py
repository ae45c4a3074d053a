"""What a running program shows of it."""

from __future__ import annotations

from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "torch.load", "forward"]) -> Alarm | None:
    """Weights are read from a file, and the network whose names they have is called without them."""
    loads = call.run.counts["Module.load_state_dict"]
    if call.name == "torch.load":
        if weights := _weights(call.result):
            call.notes["read"] = (weights, loads, call.place)
        return None
    if "read" not in call.notes:
        return None
    weights, before, place = call.notes["read"]
    own = call.owner.state_dict()
    shared = [name for name in weights if name in own and weights[name][0] == tuple(own[name].shape)]
    if loads != before:
        del call.notes["read"]
        return None
    if len(shared) < max(2, len(weights) / 2):
        return None
    del call.notes["read"]
    if any(_number(own[name]) == weights[name][1] for name in shared if own[name].dim() > 1):
        return None
    return Alarm(
        f"{len(shared)} weights of this file have the names of `{type(call.owner).__name__}`, which runs without them; "
        "hand them to load_state_dict()",
        at=place,
        certain=False,
    )


def _weights(given: Any, depth: int = 2) -> dict[str, tuple[tuple[int, ...], float]]:
    """Name -> shape and a number of each tensor, of a state dict or of one in a checkpoint."""
    if not isinstance(given, dict) or not depth:
        return {}
    found = {key: one for key, one in given.items() if isinstance(key, str) and hasattr(one, "shape") and "." in key}
    if len(found) >= 2:
        return {key: (tuple(one.shape), _number(one)) for key, one in found.items()}
    inner = (_weights(one, depth - 1) for one in given.values())
    return next((one for one in inner if one), {})


def _number(tensor: Any) -> float:
    return float(tensor.detach().flatten()[0]) if tensor.numel() and tensor.device.type == "cpu" else 0.0
