"""`loss` read behind the loop over batches is the last batch's, not the epoch's.

Behind `for x, y in loader:` the name `loss` still holds something: the loss of the last batch, often the short one. Handed to
`ReduceLROnPlateau` or to an early stopping, compared with the best so far or returned as the epoch's loss, it decides by the
luck of a few samples: the rate falls too early, a worse checkpoint is kept. Nothing looks wrong, because the number has the
right size. It is easily done where a mean was computed too and never read.

```python
total, seen = 0.0, 0
for x, y in val_loader:
    total += criterion(model(x), y).item() * len(x)
    seen += len(x)
scheduler.step(total / seen)
```
"""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = (
    "https://github.com/mbalesni/openpilot-pipeline/pull/16",
    "https://github.com/NVIDIA/DeepLearningExamples/pull/299",
    "https://github.com/lucidrains/med-seg-diff-pytorch/pull/17",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["rate"] < good["rate"]  # the noise of one batch was taken for a plateau


def watch(call: Annotated[Call, "scheduler.step"]) -> Alarm | None:
    given = call.argument(1, "metrics")
    if type(call.owner).__name__ != "ReduceLROnPlateau" or given is None or call.run.loss is None:
        return None
    steps = call.run.steps - call.memory.get("steps", 0)
    call.memory["steps"] = call.run.steps
    last = steps > 2 and float(given) == call.run.loss and call.run.loss != 0
    if not call.in_a_row(2, last):
        return None
    return Alarm(
        f"ReduceLROnPlateau gets the loss of the last of {steps} batches; give it the mean of the validation set",
        evidence=f"both are {float(given):.6g}",
    )
