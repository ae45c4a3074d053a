"""Counted from 0, `i % k == 0` is true for the first batch: each window of accumulation is shifted.

`i % k == 0` makes a step after one batch, then after every k, and up to k - 1 batches are left at the end. The first
update of an epoch is made of a k-th of what it should be; what is left over at the end is thrown away by the next `zero_grad()`, or
goes into the first step of the next epoch. With `(i + 1) % k == 0` the windows are whole, but where the number of batches is no
multiple of k the last ones still train nobody.

```python
if (i + 1) % k == 0 or i + 1 == len(loader):
    optimizer.step()
    optimizer.zero_grad()
```
"""

from __future__ import annotations

import re

from torchlore.watch.pictures import Alarm, Step

ROWS = ()
SOURCES = (
    "https://github.com/pytorch/ignite/issues/583",
    "https://github.com/timoschick/pet/issues/36",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    assert bad["windows"] == [1, 4, 4, 4]
    assert good["windows"] == [4, 4, 4, 4]


def watch(step: Step) -> Alarm | None:
    parts = [part.count("B") for part in re.split("Z+", step.order)]
    held = [part for part in parts if part]
    plain = "s" not in step.order and len({one.place for one in step.of("backward")}) == 1 and not step.closure
    seen = step.memory.setdefault("windows", [])
    if not plain or not held:
        return None
    if len(held) == 1:
        seen.append(held[0])
        del seen[:-8]
        return None
    usual, lost, used = max(seen, default=0), held[0], held[-1]
    whole = usual > 1 and seen.count(usual) > 1 and lost < usual and len(held) == 2
    if not whole or used not in (usual, usual - lost):
        return None
    return Alarm(
        f"{usual} batches make a step, and zero_grad() threw away the gradients of the last {lost}: step at the end of the epoch too",
        at=step.place,
    )
