"""The sizes of two masks added up count their overlap twice: without correction that is no union.

`intersection / (pred.sum() + target.sum())` is half of the Dice coefficient and no IoU: a perfect mask scores 0.5. It looks plausible on a
hard problem and never gets better than that. As a loss it trains, at another scale than the terms beside it.

```python
union = pred.sum() + target.sum() - intersection
iou = intersection / union
dice = 2 * intersection / (pred.sum() + target.sum())
```
"""

ROWS = ()
SOURCES = (
    "https://github.com/kkweon/UNet-in-Tensorflow/issues/11",
    "https://github.com/Project-MONAI/MONAI/issues/644",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert abs(bad["perfect"] - 0.5) < 1e-3
    assert abs(good["perfect"] - 1) < 1e-3
