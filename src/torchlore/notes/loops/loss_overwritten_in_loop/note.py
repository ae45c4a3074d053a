"""`loss = ...` in an inner loop keeps the last turn's loss: add up what is to be learned from.

With several heads, time steps or views, each with its own target, `loss = criterion(out, target)` in the loop replaces what the
turn before computed. `loss.backward()` behind the loop then differentiates the last one. The others cost their forward pass and
teach nothing: one head learns, the rest stay as they were made.

```python
loss = 0
for out, target in zip(outputs, targets, strict=True):
    loss = loss + criterion(out, target)
loss.backward()
```
"""

ROWS = ()
SOURCES = ("https://github.com/alvinwan/neural-backed-decision-trees/issues/26",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["heads_that_moved"] == 1
    assert good["heads_that_moved"] == 3
