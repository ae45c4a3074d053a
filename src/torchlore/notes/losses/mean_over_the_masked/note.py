"""What a mask removes must not count in the mean: divide by the number of what is left.

`loss.masked_fill(mask, 0)` takes padding out of the sum. Divided by `mask.sum()`, the sum of the kept is divided by the number of the
removed: a long sequence with little padding gets a huge weight, a short one a tiny weight, and the loss of a batch depends on its
padding more than on its errors. The other half of the same slip leaves the sum whole and divides by the mask: `loss.sum() /
mask.sum()` lets the padding in and makes up for it nowhere.

A loss that is already one number, `F.cross_entropy(x, y)`, can be multiplied by a mask or by a weight for each sample, and neither
tells one sample from another then: ask for `reduction="none"` first.

Sum and count with one mask:

```python
keep = ~mask
loss = (loss * keep).sum() / keep.sum()
```
"""

ROWS = ()
SOURCES = (
    "https://github.com/lucidrains/voicebox-pytorch/issues/6",
    "https://github.com/alibaba/ROLL/pull/444",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["mean_of_ones"] > 4
    assert abs(good["mean_of_ones"] - 1) < 1e-6
