"""A score that divides by a count of zero is NaN, and so is every average that it enters.

The overlap of two empty masks, the recall of a class that no picture holds, the mean over a mask that is empty: 0 / 0 is NaN in
torch, not an error. `.mean()` over classes or batches is then NaN as a whole, `nan > best` is false for ever, so the best
checkpoint is never replaced, and in a loss one such batch makes every weight NaN.

Say what an empty case counts: leave it out, or let it be 0 or 1.

```python
dice = (2 * overlap + eps) / (size + eps)              # two empty masks agree: 1
mean = (x * mask).sum() / mask.sum().clamp_min(1)      # the mean of nothing: 0
iou = torch.nanmean(overlap / union)                   # classes that are absent are left out
```
"""

ROWS = ("loss-iou",)
SOURCES = ("https://github.com/Project-MONAI/MONAI/issues/120",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, bool], good: dict[str, bool]) -> None:
    assert bad["is_nan"]
    assert not good["is_nan"]
