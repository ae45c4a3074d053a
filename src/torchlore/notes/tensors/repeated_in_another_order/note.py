"""The rows of `repeat` and those of `repeat_interleave` do not pair up.

`x.repeat(3, 1)` gives the rows a b a b a b, `x.repeat_interleave(3, dim=0)` gives a a a b b b. Where several samples are drawn for
each input, or several beams kept, one tensor is often repeated one way and its partner the other. The shapes agree, so the loss is
computed, between one row's sample and another row's target. With a batch of one nothing is wrong, which is how it gets through the
tests.

Repeat both the same way:

```python
mu = mu.repeat_interleave(k, dim=0)
target = x.repeat_interleave(k, dim=0)      # not x.repeat(k, 1)
```
"""

ROWS = ()
SOURCES = (
    "https://github.com/wenet-e2e/west/pull/119",
    "https://github.com/jadore801120/attention-is-all-you-need-pytorch/issues/28",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["error"] == 0
    assert bad["error"] > 0.5
