"""Smoothed labels must still sum to 1: take epsilon off, and spread epsilon over the K classes.

`(1 - eps) * one_hot + eps / K` moves a share of the mass. With `+ eps` or `+ 1 / K` for every class, the sum is more than 1: each wrong
class is asked for a probability it should not have, and the loss cannot fall to where it should. No shape or range complains.

```python
target = one_hot * (1 - eps) + eps / K
loss = F.cross_entropy(logits, labels, label_smoothing=eps)  # the same, by torch
```
"""

ROWS = ()
SOURCES = ("https://github.com/TimDettmers/ConvE/issues/55",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert abs(good["mass"] - 1) < 1e-6
    assert bad["mass"] > 1.3
