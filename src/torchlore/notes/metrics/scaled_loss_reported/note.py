"""`loss = scaler.scale(loss)` makes `loss` 65,536 times larger, in the log as well.

The scaled loss is for `backward()` alone. Bound to the name `loss` again, it is what `loss.item()` reads afterwards: the curve shows
numbers of tens of thousands, jumps by a factor of two whenever the scaler changes its mind, and an early stopping that watches it
stops by chance.

```python
scaler.scale(loss).backward()
total += loss.item()
```
"""

ROWS = ()
SOURCES = ("https://github.com/facebookresearch/fairchem/pull/617",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["loss"] / good["loss"] == 512
