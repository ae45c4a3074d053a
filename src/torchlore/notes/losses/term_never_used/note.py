"""A loss term or weight that is computed and then never used is missing from the loss.

A focal loss works out `alpha_t` and returns `(1 - pt)**gamma * ce`; a training step computes `aux_loss` and calls
`main_loss.backward()`; a loss class keeps `self.margin` and its `forward` says 0.1. Everything runs, the option can be set to
anything, and it changes nothing. It comes from a line that was split in two, or from a constant left in while trying things out.

Use it, or take it out:

```python
loss = alpha_t * (1 - pt) ** gamma * ce
total = main_loss + self.aux_weight * aux_loss
```
"""

ROWS = ()
SOURCES = (
    "https://github.com/dsgiitr/d2l-pytorch/pull/128",
    "https://github.com/Lightning-Universe/lightning-bolts/issues/328",
    "https://github.com/taylover-pei/SSDG-CVPR2020/issues/2",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["ratio"] == 1  # both classes weigh the same
    assert abs(good["ratio"] - 9) < 1e-3
