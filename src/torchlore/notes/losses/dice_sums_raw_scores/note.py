"""A Dice loss adds up probabilities: raw scores in its denominator make it any number.

The overlap is written with a sigmoid, `(logits.sigmoid() * mask).sum()`, and the size of the prediction without:
`logits.sum() + mask.sum()`. Raw scores are negative for most pixels, so the denominator shrinks, crosses zero and turns the sign of
the loss. It falls without end while the masks get worse, and beside a cross entropy nobody notices.

A Dice loss without any sigmoid that is handed what a layer gives has the same fault in both places.

Take the sigmoid once, and use what it gives everywhere:

```python
p = logits.sigmoid()
dice = (2 * (p * mask).sum() + eps) / (p.sum() + mask.sum() + eps)
```
"""

ROWS = ()
SOURCES = ("https://github.com/samvanstroud/hepattn/issues/44",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["loss"] > 1
    assert 0 <= good["loss"] < 0.01
