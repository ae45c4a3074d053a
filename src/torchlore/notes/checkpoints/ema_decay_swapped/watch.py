"""What a running program shows of it."""

import weakref
from typing import Annotated, Any, NamedTuple

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "add_", "lerp_", "mul", "__mul__", "__rmul__", "add", "__add__"]) -> Alarm | None:
    """`average.mul_(0.01).add_(weight, alpha=0.99)` or `0.01 * average + 0.99 * weight`, long after any warm-up of the decay."""
    if call.name in ("mul", "__mul__", "__rmul__"):
        _keep_share(call)
        return None
    if call.name in ("add", "__add__"):
        average, weight, share = _shares(call)
    else:
        average, weight = (*call.args[:2], None)[:2]
        share = call.argument(2, "weight") if call.name == "lerp_" else call.kwargs.get("alpha")
    if call.run.steps < 8 or not isinstance(share, float) or not 0.9 <= share < 1 or not hasattr(weight, "data_ptr"):
        return None
    records = (one.thing for one in call.run.optimizers if one.thing is not None)
    held = {one.data_ptr() for made in records for group in made.param_groups for one in group["params"]}
    if weight.data_ptr() not in held or average.data_ptr() in held or average.shape != weight.shape:
        return None
    told = f"each update puts {share:g} of the new weights into the average, which then follows them almost at once"
    return Alarm(f"{told}; it should keep {share:g} of itself, lerp_(weight, {1 - share:.3g})")


def _keep_share(call: Call) -> None:
    """What a number was multiplied with, and the number: the last four that no gradient follows."""
    number = next((one for one in call.args[:2] if isinstance(one, float)), None)
    whole = next((one for one in call.args[:2] if hasattr(one, "data_ptr")), None)
    if number is not None and whole is not None and not call.result.requires_grad:
        kept = call.notes.setdefault("shares", [])
        kept.append((weakref.ref(call.result), whole.data_ptr(), number))
        del kept[:-4]


def _shares(call: Call) -> tuple[Any, Any, Any]:
    """The average, the weight and its share, of two products whose factors are one together."""
    kept = call.notes.get("shares", ())
    parts = [one for given in call.args[:2] for one in kept if one[0]() is given]
    if len(parts) != 2 or abs(parts[0][2] + parts[1][2] - 1) > 1e-9:
        return None, None, None
    (_, small, _), (_, large, share) = sorted(parts, key=lambda one: one[2])
    return _At(small, call.result.shape), _At(large, call.result.shape), share


class _At(NamedTuple):
    """Where a tensor lies."""

    pointer: int
    shape: tuple[int, ...]

    def data_ptr(self) -> int:
        return self.pointer
