"""Averaged gradients keep processes together only if they start from the same weights.

Whoever averages gradients by hand, with `all_reduce` over `p.grad`, must also give all processes the same weights to begin
with. With a seed of its own, or none, each process applies the common gradient to another model; the losses look
plausible, and the average of gradients taken at different points trains none of them well. The same happens under
DistributedDataParallel where every backward runs inside `no_sync()`, or where the model is moved or cast after it was
wrapped: the reducer's hooks hang on what was there before.

```python
for p in model.parameters():
    dist.broadcast(p.data, src=0)
```

DistributedDataParallel does this by itself when the model is wrapped, after it was moved.
"""

ROWS = ()
SOURCES = ("https://github.com/pytorch/pytorch/issues/104336", "https://github.com/mila-iqia/platoon/issues/76")
TORCH = "2.11, 2.15"
NEEDS = ("two-processes",)
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["apart"] > 0.01
    assert good["apart"] == 0.0
