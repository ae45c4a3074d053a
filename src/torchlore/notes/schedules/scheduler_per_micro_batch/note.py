"""With accumulated gradients the schedule counts updates: step it with the optimizer, not every batch.

`total = epochs * len(loader) // accum` is the number of updates. `optimizer.step()` stands under `if (i + 1) % accum == 0`, and
`scheduler.step()` one indentation further out runs for every micro-batch: after a quarter of the training (with `accum = 4`) the
rate has arrived at zero, and the rest of the run learns nothing. A cosine schedule even turns and climbs again.

```python
loss = criterion(model(x), y) / accum
loss.backward()
if (i + 1) % accum == 0:
    optimizer.step()
    scheduler.step()
    optimizer.zero_grad()
```

Accelerate's prepared scheduler does this by itself.
"""

ROWS = ()
SOURCES = ("https://github.com/h2oai/h2o-llmstudio/issues/663", "https://github.com/starVLA/starVLA/pull/210")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["rate"] == 0  # half way through
    assert good["rate"] > 0.4
