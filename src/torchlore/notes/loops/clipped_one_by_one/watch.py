"""What a running program shows of it."""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "clip_grad_norm_", "Optimizer.step"]) -> Alarm | None:
    if call.name == "Optimizer.step":
        call.notes["turns"] = call.notes.get("turns", 0) + 1 if call.notes.pop("single", 0) >= 3 else 0
        return None
    given = call.argument(0, "parameters")
    call.notes["single"] = call.notes.get("single", 0) + (
        hasattr(given, "grad") and not isinstance(given, list | tuple)
    )
    if call.notes["single"] < 3 or not call.notes.get("turns"):
        return None
    return Alarm(
        "each parameter is clipped by itself, which changes the direction of the step; call clip_grad_norm_ once with all of them",
        certain=False,
    )
