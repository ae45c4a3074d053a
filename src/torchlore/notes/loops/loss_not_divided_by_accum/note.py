"""Accumulating k batches without dividing the loss by k makes the gradient k times too large.

Gradients add up. Four backwards of a mean loss, then one step, is the sum of four means: with SGD the same as a learning
rate four times higher, with clipping or Adam's epsilon something else again. "Batch 16 accumulated four times" is then
not batch 64.

```python
loss = criterion(model(x), y) / accumulation_steps
loss.backward()
if (i + 1) % accumulation_steps == 0:
    optimizer.step()
    optimizer.zero_grad()
```

With a ragged last batch, or losses summed over tokens, weigh each micro-batch by its share of the samples instead.
"""

ROWS = ()
SOURCES = ("https://github.com/fastai/fastai/issues/3023",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert abs(bad["ratio"] - 4.0) < 1e-3
    assert abs(good["ratio"] - 1.0) < 1e-3
