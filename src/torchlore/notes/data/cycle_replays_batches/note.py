"""`itertools.cycle(loader)` keeps the batches of the first pass and hands them out again.

`cycle` saves every item it has seen, and from the second round on it never asks the loader again. The order of the first epoch, its
augmentation and its noise come back in every round: `shuffle=True` shuffles once. It also keeps the whole epoch in memory.

Ask the loader anew for each round:

```python
def forever(loader):
    while True:
        yield from loader
```
"""

ROWS = ()
SOURCES = ("https://github.com/facebookresearch/pytext/pull/86", "https://github.com/pytorch/pytorch/issues/23900")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["different"] == 4
    assert good["different"] > 8
