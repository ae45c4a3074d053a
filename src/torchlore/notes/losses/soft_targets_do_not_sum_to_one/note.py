"""`cross_entropy` with float targets takes them for probabilities, even if they do not sum to 1.

Several labels per sample (multi-hot rows), masks of 0 and 255, or smoothed labels with a slip in them: all are accepted.
A row with three ones counts three times, an empty row counts nothing and teaches nothing, and the softmax makes the
labels compete although they are independent: with three true labels no output can pass one third.

For several labels per sample every output is its own yes or no:

```python
loss = F.binary_cross_entropy_with_logits(logits, multi_hot.float())
```

For real class probabilities divide each row by its sum first.
"""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call

ROWS = ("loss-ce-shape",)
SOURCES = ("001:67",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch.nn import functional as F

    assert good["exact"] > 0.9
    assert bad["exact"] < 0.5
    logits = torch.randn(1, 4)
    multi = torch.tensor([[1.0, 1.0, 1.0, 0.0]])
    parts = sum(F.cross_entropy(logits, torch.tensor([i])) for i in range(3))
    assert torch.allclose(F.cross_entropy(logits, multi), torch.as_tensor(parts))
    assert F.cross_entropy(logits, torch.zeros(1, 4)) == 0


def watch(call: Annotated[Call, "cross_entropy"]) -> Alarm | None:
    target = call.target
    if (
        target is None
        or not target.is_floating_point()
        or target.device.type != "cpu"
        or target.shape != call.input.shape
    ):
        return None
    sums = target.detach().sum(1 if target.dim() > 1 else 0)
    low, high = float(sums.min()), float(sums.max())
    if low > 0.98 and high < 1.02:
        return None
    return Alarm(
        "cross_entropy takes float targets for probabilities and these do not sum to one; several labels a sample go "
        "to binary_cross_entropy_with_logits",
        certain=high > 1.5,
        evidence=f"the rows of the target sum to {low:.3g} up to {high:.3g}",
    )
