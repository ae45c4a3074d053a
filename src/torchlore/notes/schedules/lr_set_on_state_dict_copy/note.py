"""`optimizer.state_dict()["param_groups"]` is a copy: a learning rate written there changes nothing.

`state_dict()` builds new dicts for the groups. Writing `lr` into them has no effect on the optimizer; the schedule that
the code describes never happens, and the printed rate (read from the copy) even agrees with it. The copy only counts if
it is loaded back with `load_state_dict`. A variable `lr` that was given to the optimizer is a copy too: `lr *= 0.1` changes the
variable.

Write to the optimizer itself: `for group in optimizer.param_groups: group["lr"] = lr`.
"""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = ("https://github.com/pytorch/examples/issues/64",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    assert bad["used"] == [0.1, 0.1, 0.1]
    assert good["used"] == [0.1, 0.01, 0.001]


def watch(call: Annotated[Call, "Optimizer.state_dict", "Optimizer.load_state_dict", "backward"]) -> Alarm | None:
    kept = call.notes.setdefault(
        "kept", {}
    )  # id of the optimizer -> where it was asked, its groups as given out, as told
    if call.name == "backward":
        for place, groups, told in [one for one in kept.values() if call.run.steps]:
            changed = [new["lr"] for new, old in zip(groups, told, strict=True) if new.get("lr") != old]
            if changed:
                kept.clear()
                message = f"the rate {changed[0]:.3g} is set in a copy and never used; set it in optimizer.param_groups"
                return Alarm(message, at=place, evidence="state_dict() makes new groups at each call")
    elif call.name == "Optimizer.load_state_dict":
        kept.pop(id(call.owner), None)
    elif isinstance(call.result, dict):
        groups = call.result["param_groups"]
        kept[id(call.owner)] = (call.place, groups, [group.get("lr") for group in groups])
    return None
