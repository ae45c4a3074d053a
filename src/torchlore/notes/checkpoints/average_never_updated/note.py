"""An average of the weights that nobody updates is the untrained network.

The class has an `update` method, the evaluation uses the averaged copy, and the training loop never calls it: after all epochs the
copy is the random network of the first line. A copy taken before `model.load_state_dict(...)` is little better: with a decay of 0.999 it takes
thousands of steps until the random start has faded.

Call `ema.update(model)` after each `optimizer.step()`, and make the average after the weights are loaded.
"""

ROWS = ()
SOURCES = ("https://github.com/MultimediaTechLab/YOLO/issues/97", "https://github.com/ai2cm/ace/pull/819")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["moved"] == 0
    assert good["moved"] > 0
