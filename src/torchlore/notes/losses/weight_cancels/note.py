"""A weight that multiplies numerator and denominator alike is gone.

The generalised Dice loss weighs every class by the inverse square of its area, so that a small one counts as much as the
background. The weights belong into two sums over the classes: `2 * (w * inter).sum() / (w * union).sum()`. Divided class by class,
`(w * inter) / (w * union)`, each weight cancels out, and what is left is the plain Dice loss; only `smooth` still feels it, and
then it is smoothing that differs from class to class.

```python
score = 2 * (inter * w).sum(1) / (union * w).sum(1)
```
"""

ROWS = ()
SOURCES = ("https://github.com/Project-MONAI/MONAI/issues/369",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert abs(bad["weighted"] - bad["plain"]) < 1e-4
    assert abs(good["weighted"] - good["plain"]) > 0.05
