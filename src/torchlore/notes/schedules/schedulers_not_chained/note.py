"""A scheduler acts on its optimizer when it is built: a second one starts from what the first left.

Every scheduler sets the learning rate in its constructor, and reads it there as its own starting point. Build two on one
optimizer and step only one, and the other has still done its work: a `LambdaLR` warm-up that is 0 at epoch 0 leaves the
optimizer at rate 0, and a cosine schedule stepped afterwards moves from there. Building both, to choose one later, is
enough.

Build the one you use. To run one after another, `SequentialLR(optimizer, [warmup, cosine], milestones=[10])`; to
multiply them, `ChainedScheduler([a, b])` or step both. `torchlore.recipes.schedules` composes plain functions first
and touches the optimizer once.
"""

ROWS = ("schedule-order",)
SOURCES = ("003:533-550",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    assert bad["rates"] == [0.01, 0.01, 0.01]  # a tenth of what was asked for, for good
    assert good["rates"] == [0.1, 0.1, 0.1]
