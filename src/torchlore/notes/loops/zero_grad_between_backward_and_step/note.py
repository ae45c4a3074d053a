"""zero_grad() between backward() and step() throws the new gradients away: nothing is learned.

The order of a step is zero, backward, step. With `optimizer.zero_grad()` in the middle, `step()` finds every gradient
`None` (or zero, with `set_to_none=False`) and changes nothing. Weight decay and momentum left from before still move
the weights a little, so the loss wanders and the run looks alive.

Zero first, or zero right after the step:

```python
optimizer.zero_grad()
loss.backward()
optimizer.step()
```
"""

from __future__ import annotations

import re

from torchlore.watch.pictures import Alarm, Step

ROWS = ()
SOURCES = ("https://discuss.pytorch.org/t/why-do-we-need-to-set-the-gradients-manually-to-zero-in-pytorch/4903",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["moved"] == 0
    assert good["moved"] > 0.1
    assert good["loss"] < bad["loss"]


def watch(step: Step) -> Alarm | None:
    empty = all(one.empty for one in step.trainable[:4])
    if not step.in_a_row(2, not step.closure and bool(re.search("BC?Z+C?S$", step.order)) and empty):
        return None
    return Alarm(
        "zero_grad() runs between backward() and step(), so step() sees no gradient; move it before backward()",
        at=step.of("zero")[-1].place,
        evidence=f"{len(step.trainable)} parameters without a gradient at step {step.number}",
    )
