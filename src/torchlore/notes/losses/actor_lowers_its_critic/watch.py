"""What a running program shows of it."""

from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call

_FITTED = ("MseLoss", "SmoothL1Loss", "HuberLoss")
_COST = r"(?:^|\W|_)[Cc]osts?(?:_\w+)?\s*=[^=]"  # what a critic of costs answers is to be lowered


def watch(call: Annotated[Call, "backward", "Optimizer.step"]) -> Alarm | None:
    notes = call.notes
    if call.name == "backward":
        leaves = call.kwargs.get("leaves")
        notes["last"] = (_kind(call.args[0].grad_fn), set(leaves), call.place) if leaves else None
        return None
    kind, reached, place = notes.pop("last", None) or ("", set(), None)
    held = {id(p) for group in call.owner.param_groups for p in group["params"]}
    fitted = notes.setdefault("fitted", set())
    if kind == "fitted":
        fitted |= held & reached
    climbs = call.owner.param_groups[0].get("maximize") is True
    lowers = kind == "raw" and not climbs and bool(reached & fitted - held) and bool(reached & held)
    notes["times"] = notes.get("times", 0) + lowers
    if not lowers or notes["times"] < 3 or (place is not None and place.first(_COST) is not None):
        return None
    return Alarm(
        "this step lowers the answer of a critic that is fitted to returns, so the actor learns the worst actions; negate the loss",
        at=place,
        certain=False,
    )


def _kind(made: Any) -> str:
    """What a loss is: fitted to a target, the plain mean of a network's outputs ("raw"), or something else."""
    inner = [node for node, _ in made.next_functions if node is not None]
    if any(node.name().startswith(_FITTED) for node in (made, *inner)):
        return "fitted"
    while inner and inner[0].name().startswith(("View", "Squeeze", "Unsafe", "Reshape")):
        inner = [node for node, _ in inner[0].next_functions if node is not None]
    plain = bool(inner) and inner[0].name().startswith(("Addmm", "Minimum", "Min"))
    return "raw" if plain and made.name().startswith("MeanBackward") else ""
