"""What a running program shows of it."""

import re
from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call

_FIXED = re.compile(r"target|teacher|momentum|ema|frozen|fixed|rand|key|old", re.IGNORECASE)


def watch(
    call: Annotated[
        Call, "Linear", "Conv1d", "Conv2d", "Embedding", "LSTM", "GRU", "Module.load_state_dict", "Optimizer.step"
    ],
) -> Alarm | None:
    quiet: dict[int, Any] = call.notes.setdefault(
        "quiet", {}
    )  # id of a weight -> its version and line, run under no_grad alone
    loud: set[int] = call.notes.setdefault(
        "loud", set()
    )  # ids of weights that ran with gradients, or came from elsewhere
    if call.name == "Optimizer.step":
        return _at_step(call, quiet)
    if call.name == "Module.load_state_dict":
        loud.update(id(p) for p in call.owner.parameters())
        return None
    weight = next(call.args[0].parameters(), None)
    if weight is None or not call.modules or not call.modules[0].training:
        return None
    if call.grad_enabled:
        loud.add(id(weight))
        quiet.pop(id(weight), None)
    elif weight.requires_grad and id(weight) not in loud:
        quiet.setdefault(id(weight), (weight._version, call.place))  # noqa: SLF001 - the only way to see that an average writes to it
    return None


def _at_step(call: Call, quiet: dict[int, Any]) -> Alarm | None:
    held = [p for group in call.owner.param_groups for p in group["params"]] if quiet else []
    lost = [p for p in held if id(p) in quiet and p.grad is None and p._version == quiet[id(p)][0]]  # noqa: SLF001 - see above
    rows = call.notes.setdefault("rows", {})
    trains = any(p.grad is not None for p in held)
    rows[id(call.owner)] = rows.get(id(call.owner), 0) + 1 if lost and trains else 0
    if rows[id(call.owner)] < 4:
        return None
    names = call.run.parameter_names()
    known = [(names[id(p)], quiet[id(p)][1]) for p in lost if id(p) in names]
    known = [(name, place) for name, place in known if not _FIXED.search(name)]
    if not known:
        return None
    told = f"{', '.join(name for name, _ in known[:3])} only ever run under no_grad, so this optimizer never changes them; end the block, or take the decorator off, before them"
    return Alarm(told, at=known[0][1], certain=False, evidence=f"no gradient in {rows[id(call.owner)]} steps")
