"""zero_grad() in every micro-batch of an accumulation throws away all but the last one.

Gradient accumulation runs several backwards and then one step. With `optimizer.zero_grad()` at the top of the same loop,
each backward starts from nothing, and the step sees the last micro-batch only, divided by the number of them: batch 64
became batch 16 with a quarter of the learning rate, at four times the price.

Zero where you step:

```python
(criterion(model(x), y) / k).backward()
if (i + 1) % k == 0:
    optimizer.step()
    optimizer.zero_grad()
```
"""

import re

from torchlore.watch.pictures import Alarm, Step

ROWS = ()
SOURCES = ("https://github.com/bytetriper/RAE/issues/67",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["error"] > 0.3
    assert good["error"] < 1e-5


def watch(step: Step) -> Alarm | None:
    voided = re.search("(Z[^BS]*F[^BS]*B[^BZS]*){2,}S$", step.order) and "s" not in step.order
    same = all(len({event.place for event in step.of(group)}) == 1 for group in ("backward", "zero"))
    if not step.in_a_row(3, bool(voided and same) and step.untouched and not step.closure):  # a scaler may skip some
        return None
    batches = step.order.count("B")
    return Alarm(
        f"{batches} batches are accumulated for one step, and zero_grad() in each of them leaves it the last one only; zero "
        "right after the step",
        at=step.of("zero")[-1].place,
    )
