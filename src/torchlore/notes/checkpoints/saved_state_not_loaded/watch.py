"""What a running program shows of it."""

from __future__ import annotations

import re
from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call, Step

_COUNTS = re.compile(r"epoch|step|iter", re.IGNORECASE)


def watch(picture: Annotated[Call, "torch.load", "torch.save", "Optimizer.load_state_dict"] | Step) -> Alarm | None:
    """A checkpoint is read, and what it counts goes on without the optimizer's state, or with another optimizer."""
    if isinstance(picture, Step):
        return _replaced(picture)
    if picture.name == "Optimizer.load_state_dict":
        held = {id(p) for group in picture.owner.param_groups for p in group["params"]}
        picture.notes["filled"] = (id(picture.owner), held, picture.place)
    elif picture.name == "torch.load":
        number = _count(picture.result)
        if number is not None and (_optimizers(picture.result) or _nets(picture.result)):
            counts = picture.run.counts
            had = counts["Optimizer.load_state_dict"], counts["Module.load_state_dict"], picture.run.steps
            picture.notes["read"] = (number, picture.place, had, _clocks(picture.result))
    else:
        return _written(picture)
    return None


def _written(call: Call) -> Alarm | None:
    """The next checkpoint after one that was read, with training in between."""
    given = call.argument(0, "obj")
    number, before = _count(given), call.notes.get("read")
    if before is None or number != before[0] + 1 or not (_optimizers(given) or _forgets(call, given)):
        return None
    old, place, (loads, nets, steps), clocks = call.notes.pop("read")
    if call.run.counts["Module.load_state_dict"] == nets or call.run.steps == steps:
        return None  # the weights were not taken from it, or nothing was trained with them
    if call.run.counts["Optimizer.load_state_dict"] == loads:
        told = f"the run goes on from {old} to {number} with the weights of this checkpoint and without its optimizer's state; save and load that too"
        return Alarm(told, at=place, certain=False)
    now = _clocks(given)
    if clocks and now and max(now) <= min(clocks):
        told = f"the run goes on from {old} to {number}, and its scheduler counts from 0 again; load the scheduler's state too"
        return Alarm(told, at=place, certain=False)
    return None


def _replaced(step: Step) -> Alarm | None:
    """An optimizer takes the first step of parameters whose state was loaded into another one, which never stepped."""
    loaded, held, place = step.notes.get("filled", (0, set(), None))
    if id(step.optimizer) == loaded or not held:
        step.notes.pop("filled", None)
        return None
    mine = {id(p) for group in step.groups for p in group["params"]}
    if not mine & held:
        return None
    del step.notes["filled"]
    fresh = step.number == 1 and mine == held
    told = "the state that was loaded here is in an optimizer that never steps: another one was made after it; make it first, then load"
    return Alarm(told, at=place, certain=False) if fresh else None


def _forgets(call: Call, given: Any) -> bool:
    """Whether a checkpoint holds weights and no optimizer, and the optimizer of this run remembers something."""
    living = [record.optimizer for record in call.run.optimizers if record.optimizer is not None]
    keeps = any(value is not None for one in living for state in one.state.values() for value in state.values())
    return _nets(given) and keeps


def _nets(given: Any) -> bool:
    parts = [part for part in given.values() if isinstance(part, dict)] if isinstance(given, dict) else []
    return any(part and all(hasattr(one, "shape") for one in part.values()) for part in parts)


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
