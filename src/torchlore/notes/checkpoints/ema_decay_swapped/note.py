"""A moving average keeps `decay` of itself and takes `1 - decay` of the new: swapped, it is a copy.

With a decay of 0.999 the average should hold about a thousand steps. `ema.mul_(1 - decay).add_(p, alpha=decay)` takes 99.9 % of the
newest weights instead: it follows every step of the training at once, and the smoothing, the stable target or the better test score
that it is made for never comes. Nothing fails.

```python
ema.mul_(decay).add_(p, alpha=1 - decay)
ema.lerp_(p, 1 - decay)
```

A sign does the same harm the other way: `ema.add_((ema - p) * (1 - decay))` drives the average away from the weights, ever faster.
"""

ROWS = ()
SOURCES = ("https://github.com/neuropoly/domainadaptation/issues/1",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["jump"] > 0.9
    assert good["jump"] < 0.4
