"""What a running program shows of it."""

from itertools import pairwise
from typing import Annotated

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "scheduler.step"]) -> Alarm | None:
    kind, given = type(call.owner).__name__, call.argument(1, "epoch")
    if kind not in ("ReduceLROnPlateau", "CosineAnnealingWarmRestarts") and isinstance(given, float) and given % 1:
        return Alarm(f"{kind} takes {given:.4g} for the number of an epoch; call step() without it")
    if kind != "ReduceLROnPlateau" or call.argument(1, "metrics") is None:
        return None
    values = call.memory.setdefault("values", [])
    values.append(float(call.argument(1, "metrics")))
    rises = all(one < other for one, other in pairwise(values))
    falls = all(one > other for one, other in pairwise(values))
    if len(values) != 4 or not (rises if call.owner.mode == "min" else falls):
        return None
    told, better = ("rises", "max") if rises else ("falls", "min")
    return Alarm(
        f"the metric {told} from call to call and mode={call.owner.mode!r} takes that for getting worse; if it gets better, pass "
        f"mode={better!r}",
        certain=False,
        evidence=f"values so far: {', '.join(f'{one:.3g}' for one in values)}",
    )
