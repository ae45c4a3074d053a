"""A moving average keeps `decay` of itself and takes `1 - decay` of the new: swapped, it is a copy.

With a decay of 0.999 the average should hold about a thousand steps. `ema.mul_(1 - decay).add_(p, alpha=decay)` takes 99.9 % of the
newest weights instead: it follows every step of the training at once, and the smoothing, the stable target or the better test score
that it is made for never comes. Nothing fails.

```python
ema.mul_(decay).add_(p, alpha=1 - decay)
ema.lerp_(p, 1 - decay)
```
"""

from collections.abc import Iterator

from torchlore.check import averages
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/neuropoly/domainadaptation/issues/1",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["jump"] > 0.9
    assert good["jump"] < 0.1


def find(source: Source) -> Iterator[Hit]:
    if "zip(" not in source.text:
        return
    for one in averages.averages(source):
        if one.share is not None and 0.9 <= one.share < 1:
            told = f"this takes {one.share:g} of the newest weights, so `{source.code(one.average)}` averages nothing: swap the two shares"
            yield source.hit(one.update, told)
