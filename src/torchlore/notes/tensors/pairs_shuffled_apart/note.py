"""Two calls of randperm are two orders: shuffle images and labels with one permutation.

`x = x[torch.randperm(n)]; y = y[torch.randperm(n)]` shuffles each of them well and tears every pair apart. Nothing
fails; the model learns that labels are noise, and the loss stays at the logarithm of the number of classes.

Draw once and index everything with it: `order = torch.randperm(len(x)); x, y = x[order], y[order]`. That is
`torchlore.recipes.tensors.shuffle_together(x, y)`, which also checks that the lengths agree. `DataLoader(shuffle=True)`
shuffles whole samples and needs neither. `np.random.shuffle(x); np.random.shuffle(y)` is the same trap: each call draws an
order of its own.

Two loaders that both say `shuffle=True`, walked with `zip`, are two orders as well: put both into one dataset.

`sorted(os.listdir(images))` beside `os.listdir(masks)` tears pairs apart too, on one file system and not on another: a listing
has no order. Sort both.
"""

from typing import Any

ROWS = ("tensor-shuffle",)
SOURCES = ("003:114",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert good["pairs_kept"] == 1.0
    assert bad["pairs_kept"] < 0.7  # two classes: half agree by chance
    assert bad["loss"] > 0.6  # about log 2
    assert good["loss"] < 0.2
