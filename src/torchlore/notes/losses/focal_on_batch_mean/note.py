"""A focal weight computed from the batch's mean loss weighs all samples alike.

`p = exp(-ce)` is the probability of the true class only if `ce` is the loss of one sample. With the default
`reduction="mean"` it is one number for the batch, and `(1 - p) ** gamma` one weight for all: easy and hard samples are
weighted the same, which is what focal loss was meant to change. The loss still falls.

Keep the losses apart until they are weighted:

```python
ce = F.cross_entropy(logits, labels, reduction="none")
loss = ((1 - torch.exp(-ce)) ** gamma * ce).mean()
```

or take `torchlore.recipes.losses.focal_loss`, which is exact near p = 1 and knows weights and ignored labels. With class
weights, `exp(-ce)` is no probability any more: compute p without them.
"""

ROWS = ()
SOURCES = ("https://github.com/kaidic/LDAM-DRW/issues/6",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch.nn import functional as F

    from torchlore.recipes.losses import focal_loss

    assert bad["spread"] == 0
    assert good["spread"] > 0.1
    logits, labels = torch.randn(8, 3), torch.randint(0, 3, (8,))
    each = F.cross_entropy(logits, labels, reduction="none")
    by_hand = ((1 - torch.exp(-each)) ** 2 * each).mean()
    assert torch.allclose(focal_loss(logits, labels, 2.0), by_hand, atol=1e-6)
