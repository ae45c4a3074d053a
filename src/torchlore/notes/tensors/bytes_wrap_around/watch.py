"""What a running program shows of it."""

import operator
from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call

_WORK = {"sub": operator.sub, "add": operator.add, "mul": operator.mul}


def watch(
    call: Annotated[
        Call, "sub", "__sub__", "__rsub__", "rsub", "add", "__add__", "__radd__", "mul", "__mul__", "__rmul__"
    ],
) -> Alarm | None:
    result: Any = call.result
    if str(getattr(result, "dtype", "")) != "torch.uint8" or not result.is_cpu or not 0 < result.numel() <= 1_000_000:
        return None
    name = call.name.strip("_")
    sides = call.args[:2] if name[0] != "r" else call.args[1::-1]
    if len(sides) < 2 or call.kwargs or call.memory.get("told"):
        return None
    work = _WORK[name.removeprefix("r")]
    wide = [one.int() if hasattr(one, "int") else one for one in sides]
    exact = work(wide[0], wide[1])
    low, high = int(exact.min()), int(exact.max())
    if low >= 0 and high <= 255:
        return None
    call.memory["told"] = True
    return Alarm(
        f"bytes wrap around here: the exact result runs from {low} to {high}, and uint8 holds 0 to 255; call .float() first",
        certain=False,
        evidence=f"a result of shape {tuple(result.shape)}",
    )
