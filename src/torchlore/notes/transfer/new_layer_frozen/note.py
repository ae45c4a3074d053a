"""Freezing all parameters after the new head was put in freezes the head: it stays as it was drawn.

`model.fc = nn.Linear(512, 10)` and then `for p in model.parameters(): p.requires_grad = False` leaves a head of random
weights that no step changes. If nothing at all is left to train, `backward()` raises; if a norm, a bias, a scale or a
second head is left, it runs, the loss falls a little, and the features go through random numbers for ever. The same
happens where the names that are spared are spelt otherwise than those of the new layer.

Freeze first and put the new layer in afterwards, which is trainable when it is made, or free it again:
`model.fc.requires_grad_(True)`. Print what is trained: `[n for n, p in model.named_parameters() if p.requires_grad]`.
"""

from typing import Any

ROWS = ("transfer-finetune-head",)
SOURCES = ("003:380-387",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["moved"] == 0.0  # the head is as it was drawn
    assert good["moved"] > 0.0
    assert good["loss"] < 0.9 * bad["loss"]
