"""What a running program shows of it."""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call


def watch(call: Annotated[Call, "add_", "lerp_"]) -> Alarm | None:
    """`average.mul_(0.01).add_(weight, alpha=0.99)`, long after any warm-up of the decay."""
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
