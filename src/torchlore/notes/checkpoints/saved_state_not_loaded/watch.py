"""What a running program shows of it."""

from __future__ import annotations

import re
from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call

_COUNTS = re.compile(r"epoch|step|iter", re.IGNORECASE)


def watch(call: Annotated[Call, "torch.load", "torch.save"]) -> Alarm | None:
    """A checkpoint with an optimizer in it is read, and the count that it holds goes on without the optimizer's state."""
    loads = call.run.counts["Optimizer.load_state_dict"]
    if call.name == "torch.load":
        number = _count(call.result)
        if number is not None and _optimizers(call.result):
            nets = call.run.counts["Module.load_state_dict"]
            call.notes["read"] = (number, call.place, loads, nets, _clocks(call.result))
        return None
    given = call.argument(0, "obj")
    number = _count(given)
    before = call.notes.get("read")
    if before is None or number is None or not _optimizers(given) or number != before[0] + 1:
        return None
    old, place, had, nets, clocks = call.notes.pop("read")
    if call.run.counts["Module.load_state_dict"] == nets:
        return None  # the weights were not taken from it: it was read for something else
    if loads == had:
        told = f"the run goes on from {old} to {number} with the weights of this checkpoint and without its optimizer's state; load that too"
        return Alarm(told, at=place, certain=False)
    now = _clocks(given)
    if clocks and now and max(now) <= min(clocks):
        told = f"the run goes on from {old} to {number}, and its scheduler counts from 0 again; load the scheduler's state too"
        return Alarm(told, at=place, certain=False)
    return None


def _count(given: Any) -> int | None:
    """The epoch or step that a checkpoint holds."""
    if not isinstance(given, dict):
        return None
    found = [one for key, one in given.items() if isinstance(key, str) and _COUNTS.search(key) and type(one) is int]
    return found[0] if len(found) == 1 else None


def _optimizers(given: Any) -> bool:
    parts = given.values() if isinstance(given, dict) else ()
    return any(isinstance(part, dict) and {"state", "param_groups"} <= part.keys() for part in parts)


def _clocks(given: Any) -> list[int]:
    """How far the schedulers in a checkpoint have counted."""
    parts = [part for part in given.values() if isinstance(part, dict)] if isinstance(given, dict) else []
    return [part["last_epoch"] for part in parts if isinstance(part.get("last_epoch"), int)]
