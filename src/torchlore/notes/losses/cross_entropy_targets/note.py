"""`cross_entropy` takes logits (N, C, ...) and int64 class numbers (N, ...), not one-hot.

For segmentation: logits (N, C, H, W), labels (N, H, W). The class dimension is the second one, always; logits of shape
(N, L, C), as a language model gives them, must be turned: `logits.transpose(1, 2)`. Labels of another integer type, or
with an extra dimension (N, 1, H, W), raise.

```python
loss = F.cross_entropy(logits, masks.long())
loss = F.cross_entropy(tokens.flatten(0, 1), labels.flatten())
```

Floating-point targets of the logits' own shape are class probabilities: a one-hot row gives the same loss as its number.
Nobody checks that they sum to one.
"""

ROWS = ("loss-ce-shape",)
SOURCES = ("001:67",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import torch
    from torch.nn import functional as F

    from torchlore.notes.proof import error_of

    logits = torch.randn(2, 3, 4, 5, device=device)
    labels = torch.randint(0, 3, (2, 4, 5), device=device)
    loss = F.cross_entropy(logits, labels)
    hot = F.one_hot(labels, 3).movedim(-1, 1).float()
    assert torch.allclose(loss, F.cross_entropy(logits, hot))
    for wrong in (labels.unsqueeze(1), labels.int()):
        assert error_of(lambda wrong=wrong: F.cross_entropy(logits, wrong)) == "RuntimeError"  # type: ignore[misc]  # bound now
    assert torch.allclose(F.cross_entropy(logits, 2 * hot), 2 * loss)  # accepted, and twice too large

    words = torch.randn(2, 7, 3, device=device)
    next_words = torch.randint(0, 3, (2, 7), device=device)
    flat = F.cross_entropy(words.flatten(0, 1), next_words.flatten())
    assert torch.allclose(flat, F.cross_entropy(words.transpose(1, 2), next_words))
