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
