"""torch.manual_seed seeds torch on every device, and neither Python's random nor NumPy.

Augmentation, shuffling and sampling often draw from `random` or `np.random`. With only torch seeded, two runs differ
although the seed is the same, and a bug seen once cannot be seen again. `torch.cuda.manual_seed_all` adds nothing:
`manual_seed` already seeds the GPUs.

Seed all three in one place. In distributed training add the rank, or every process draws the same dropout masks and
the same augmentation. Give the `DataLoader` a `generator` of its own, so that the order of the data does not depend on
how much randomness the model used before.

```python
from torchlore.recipes.seed import seed_everything

seed_everything(0, rank)
```
"""

from typing import Any

ROWS = ("env-seed",)
SOURCES = ("003:28-32",)
TORCH = "2.11, 2.15"
NEEDS = ("numpy",)
SEVERITY = "warning"


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import torch

    assert not bad["repeats"]
    assert good["repeats"]

    def draw(seed: int) -> list[float]:
        torch.manual_seed(seed)
        return torch.rand(3, device=device).tolist()

    assert draw(0) == draw(0)  # one call is enough, on the GPU too
    assert draw(0) != draw(1)
    assert draw(0 + 0) != draw(0 + 1)  # seed + rank: each process draws its own
