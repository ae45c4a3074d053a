"""A class weight that grows with the class's count makes the common class count even more.

Weights are there to lift the rare classes: `total / count`. `count / total`, the share of each class, does the opposite, and the
rare class is never predicted. `pos_weight` of `BCEWithLogitsLoss` is negatives over positives; turned round it is a number below 1
where the positives are rare. The loss even looks better, since the easy class fills it.

```python
weight = counts.sum() / (len(counts) * counts)
pos_weight = negatives / positives
```
"""

ROWS = ()
SOURCES = ("https://docs.pytorch.org/docs/stable/generated/torch.nn.BCEWithLogitsLoss.html",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["rare"] < 0.2 < good["rare"]
