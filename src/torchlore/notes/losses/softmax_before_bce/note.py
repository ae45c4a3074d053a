"""A softmax before a binary cross-entropy makes the outputs compete and is no cross-entropy.

`BCELoss` asks of each output by itself: yes or no? That is what a sigmoid answers. After a softmax the outputs sum to one,
so two true labels can never both be near 1; and for one true label among C the loss and its gradient differ from those of
cross-entropy. It trains, but to something else, and more slowly.

One label per sample: no softmax, cross-entropy. Several: no sigmoid of your own, BCE with logits.

```python
loss = F.cross_entropy(logits, labels)
loss = F.binary_cross_entropy_with_logits(logits, multi_hot)
```
"""

ROWS = ("loss-bce",)
SOURCES = ("001:69",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch.nn import functional as F

    assert good["exact"] > 0.9
    assert bad["exact"] < 0.7
    logits, labels = torch.randn(6, 4), torch.randint(0, 4, (6,))
    hot = F.one_hot(labels, 4).float()
    assert not torch.allclose(F.binary_cross_entropy(logits.softmax(1), hot), F.cross_entropy(logits, labels))
