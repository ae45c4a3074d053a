"""`scheduler.step()` before the first `optimizer.step()` skips the first learning rate.

Building a scheduler sets the rate of step 0. Stepping it at the top of the epoch moves on to step 1 before anything was
trained: every rate comes one epoch early and the first is never used. Torch warns once and goes on.

`if scheduler: scheduler.step()` with `optimizer.step()` in the `else:` is worse: the rate changes, and nothing is trained.

Train first, then step the scheduler: once an epoch at the end of the epoch's loop, once a batch right after
`optimizer.step()`.
"""

from typing import Any

from torchlore.watch.pictures import Alarm, Step

ROWS = ()
SOURCES = ("https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["rates"] == [0.5, 0.25, 0.125]
    assert good["rates"] == [1.0, 0.5, 0.25]


def watch(step: Step) -> Alarm | None:
    early = [one for one in step.record.schedulers if one.stepped_at and one.stepped_at[0] == 0]
    if step.number > 3 or not early or step.run.counts["GradScaler.step"]:
        return None
    told = f"{early[0].kind}.step() runs before the first optimizer.step(), so the first learning rate is never used; step it after"
    return Alarm(told, at=early[0].step_place, evidence=f"learning rate {step.rates[0]:g} at the first step")
