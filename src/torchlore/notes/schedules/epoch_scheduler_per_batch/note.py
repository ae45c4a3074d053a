"""A scheduler that counts epochs, stepped after every batch, takes the rate to nothing at once.

`StepLR(optimizer, step_size=5, gamma=0.5)`, `MultiStepLR(milestones=[30, 60])`, `ExponentialLR(gamma=0.95)` and
`CosineAnnealingLR(T_max=epochs)` count calls of `step()`. Inside the batch loop the rate halves every five batches and
is a millionth of itself after a hundred. The loss falls a little, then stands still, and looks converged.

Move `scheduler.step()` out of the batch loop, to the end of the epoch; or give the schedule its lengths in batches:
`step_size=5 * len(loader)`.
"""

ROWS = ()
SOURCES = ("https://github.com/ivadomed/ivadomed/pull/55", "https://github.com/pytorch/tutorials/pull/640")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["rate"] < 1e-9
    assert abs(good["rate"] - 0.0125) < 1e-9
