"""CutMix weighs the labels by the area that was pasted: a box cut off at the border is smaller.

`lam = beta(1, 1)` is drawn first, the box is made from it, and `clip` keeps the box within the picture. Where the middle lies near a
border, part of the box is cut off: the drawn share says that half of the picture is another's, and it is a tenth. The loss then asks
for a class that is hardly there, in more than half of the batches.

Take the share from the box that is left:

```python
top, bottom, left, right = box(x.shape, lam)
x[:, :, top:bottom, left:right] = x[order, :, top:bottom, left:right]
lam = 1 - (bottom - top) * (right - left) / (x.shape[-2] * x.shape[-1])
```
"""

ROWS = ()
SOURCES = ("https://github.com/clovaai/CutMix-PyTorch/issues/1", "https://github.com/kornia/kornia/issues/3077")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["apart"] > 0.1
    assert good["apart"] < 1e-6
