"""Torch spreads the smoothing epsilon over all classes, many snippets over the other classes only.

`F.cross_entropy(..., label_smoothing=0.1)` gives each of C classes 0.1/C and the true one the rest on top. The snippet with
`0.1 / (C - 1)` elsewhere and 0.9 on the true class is another target: with few classes the loss differs in the second
digit. It is the same as torch's with epsilon `0.1 * C / (C - 1)`. It also divides by zero for one class and cannot
ignore labels.

Use torch's own, and convert the number if you follow a paper that means the other:

```python
from torchlore.recipes.losses import convert_epsilon
loss = F.cross_entropy(logits, labels, label_smoothing=convert_epsilon(0.1, C, to="all"))
```
"""

ROWS = ("loss-label-smoothing",)
SOURCES = ("003:428-443",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import torch
    from torch.nn import functional as F

    from torchlore.recipes.losses import convert_epsilon, label_smoothing_loss

    for classes, most in ((2, 1.0), (5, 0.1), (1000, 1e-3)):
        logits = torch.randn(64, classes, device=device)
        labels = torch.randint(0, classes, (64,), device=device)
        smoothed = torch.full((64, classes), 0.1 / (classes - 1), device=device)
        smoothed.scatter_(1, labels.unsqueeze(1), 0.9)
        assert torch.allclose(smoothed.sum(1), torch.ones(64, device=device), atol=1e-5)
        literal = -(F.log_softmax(logits, 1) * smoothed).sum() / 64
        gap = abs(float(literal - F.cross_entropy(logits, labels, label_smoothing=0.1)))
        assert gap < most
        assert classes == 1000 or gap > 1e-4  # not the same number
        epsilon = convert_epsilon(0.1, classes, to="all")
        assert torch.allclose(literal, F.cross_entropy(logits, labels, label_smoothing=epsilon), atol=1e-4)
        assert torch.allclose(literal, label_smoothing_loss(logits, labels, 0.1, spread="others"), atol=1e-4)
