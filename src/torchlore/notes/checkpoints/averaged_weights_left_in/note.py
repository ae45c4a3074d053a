"""Averaged weights that are put into the model for an evaluation must be taken out again.

`ema.apply_shadow()` copies the averages into the model so that they are evaluated or saved. Without `ema.restore()` after it the next
training step starts from the average: the optimizer's momentum belongs to other weights, every epoch falls back by the
length of the average, and the average itself follows a model that is reset to it. The loss still falls, only slower.

Pair them, at best in one context: `with ema.average_parameters(): evaluate(model)`, or `ema.store(); ema.copy_to(); ...; ema.restore()`.
"""

ROWS = ()
SOURCES = (
    "https://github.com/PKU-YuanGroup/Open-Sora-Plan/issues/186",
    "https://github.com/MultimediaTechLab/YOLO/issues/97",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["lost"] == 0
    assert bad["lost"] > 0.1
