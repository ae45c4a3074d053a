"""A score that is masked with 0 or 1e-9 keeps its share of the softmax: only minus infinity hides it.

`exp(0)` is 1, as much as many a real score has. `scores * mask` and `scores.masked_fill(mask == 0, 1e-9)`, with the minus sign in the
wrong place, leave the padding or the future in the sum: its share depends on the number of masked positions, and the model
attends to what should not be there. Nothing raises, the loss even falls faster.

Write `scores.masked_fill(mask == 0, float("-inf"))` before the softmax.
"""

ROWS = ()
SOURCES = ("https://github.com/hkproj/pytorch-transformer/issues/19",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["hidden_weight"] > 0.1
    assert good["hidden_weight"] == 0
