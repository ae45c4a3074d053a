"""A scheduler that is never stepped leaves the learning rate as it was.

Building a scheduler changes nothing but, for some, the first rate. Without `scheduler.step()` the plan is never followed: the
rate stays at its first value (or at the first value of the warm-up) to the end of the run. It happens when the step stands
under a condition that is never true, in a callback nobody calls, or was lost in a rewrite. No message is given.

Step it once for each unit it counts in, after the optimizer: at the end of an epoch for `StepLR` or `MultiStepLR`, after
every batch for `OneCycleLR`. Log `scheduler.get_last_lr()`: a flat line shows the mistake.
"""

ROWS = ()
SOURCES = ("https://github.com/tumurzakov/AnimateDiff/issues/11",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["rate"] == 0.1
    assert good["rate"] < 0.02
