"""OneCycleLR counts batches: stepped once an epoch, the learning rate never gets off the ground.

`OneCycleLR(optimizer, max_lr, epochs=E, steps_per_epoch=len(loader))` plans `E * len(loader)` steps. Called at the end of
each epoch it takes `E` of them: with 1,000 batches an epoch it stays in the first thousandth of its warm-up, at a
twenty-fifth of `max_lr`, for the whole run. The same holds for every schedule that was given `total_steps`, `T_max` or
`total_iters` in batches.

Step it after each `optimizer.step()`, inside the batch loop; or plan it in epochs: `total_steps=E`, and leave it where
it is.
"""

from torchlore.watch.pictures import Alarm, Step

ROWS = ()
SOURCES = ("https://github.com/pytorch/pytorch/issues/65417",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["highest"] < 0.1
    assert good["highest"] > 0.99


def watch(step: Step) -> Alarm | None:
    for one in step.record.schedulers:
        planned = getattr(one.thing, "total_steps", 0) or 0
        slow = step.number > 4 * one.steps and planned > 4 * one.steps and planned >= step.number
        if type(one.thing).__name__ == "OneCycleLR" and one.steps >= 2 and slow:
            return Alarm(
                f"OneCycleLR planned {planned} steps and was stepped {one.steps} times in {step.number} optimizer steps; "
                "step it after each optimizer.step()",
                at=one.step_place,
            )
    return None
