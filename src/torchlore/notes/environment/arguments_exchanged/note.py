"""Two arguments in each other's places raise nothing when both are numbers or tensors.

`linear_schedule(optimizer, num_training_steps, num_warmup_steps)` for `def linear_schedule(optimizer, num_warmup_steps,
num_training_steps)` warms up during the whole run and never decays. The names in the call say what was meant, and Python does not read
them: places decide. It happens most where a signature was taken from another library that has the two the other way round.

Give such arguments by name: `linear_schedule(optimizer, num_warmup_steps=warmup, num_training_steps=total)`, and put a `*` before them in
the definition, so that nobody can give them by place.
"""

ROWS = ()
SOURCES = ("https://github.com/shirley-wu/cross-doc-misinfo-detection/issues/1",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["rate_at_the_end"] == 1.0  # still warming up
    assert good["rate_at_the_end"] < 0.2
