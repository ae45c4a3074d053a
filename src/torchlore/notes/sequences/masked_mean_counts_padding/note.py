"""`(loss * mask).mean()` divides by the padding too: the more padding, the smaller the loss.

The mask makes the padded positions 0, and `mean` counts them all the same. A batch with one long sentence among short ones has a
small loss and a small gradient, whatever is right or wrong in it; averaged embeddings of short texts are shorter vectors than
those of long ones. The learning rate changes with the padding, and two batch sizes cannot be compared.

Divide by what the mask keeps: `(loss * mask).sum() / mask.sum()`, with `dim` for a mean per sequence:
`(h * mask).sum(1) / mask.sum(1).clamp(min=1)`. `loss[mask].mean()` does the same for a boolean mask.
"""

ROWS = ()
SOURCES = ("https://github.com/d2l-ai/d2l-en/issues/2076", "https://github.com/NovaSky-AI/SkyRL/pull/462")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert abs(good["loss"] - 2.0) < 1e-6
    assert abs(bad["loss"] - 0.7) < 1e-6
