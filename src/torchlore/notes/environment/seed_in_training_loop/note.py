"""A constant seed set inside the epoch loop makes every epoch draw the same random numbers.

Shuffling, dropout, augmentation and noise start again from the same state at the top of each epoch: the network sees the same
batches in the same order with the same masks, and overfits to them. The run is repeatable, which is why it looks right.

Seed once, before the loop. If an epoch must be repeatable by itself, let the seed depend on it: `torch.manual_seed(seed + epoch)`.
"""

ROWS = ()
SOURCES = ("https://github.com/LucaOne/LucaOne/pull/124",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["different_orders"] == 1
    assert good["different_orders"] == 3
