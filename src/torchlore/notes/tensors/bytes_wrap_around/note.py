"""Sums and differences of bytes wrap around: 3 - 5 is 254 in a uint8 tensor.

Pictures come as uint8. As long as both sides are bytes, so is the result, modulo 256: a dark pixel minus the mean becomes a
bright one, a brightened one black, and the difference of two frames is large where it should be small and negative. Nothing
warns, and the picture still looks like one.

Turn to float first, or to a wider integer, and clamp before going back:

```python
difference = now.float() - before.float()
brighter = (image.int() + 40).clamp(0, 255).to(torch.uint8)
```
"""

ROWS = ()
SOURCES = ("https://github.com/pytorch/vision/issues/8399",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["darkest"] > 200
    assert good["darkest"] == -2
