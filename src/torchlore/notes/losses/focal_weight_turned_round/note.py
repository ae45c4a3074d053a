"""The focal weight of `log(p)` is `(1 - p) ** gamma`: turned round, the easy samples count.

The focal loss multiplies each part of the cross entropy by how wrong it is: `(1 - p) ** gamma * log(p)` for a positive and
`p ** gamma * log(1 - p)` for a negative. Copied from one line to the next, the power often keeps what belongs to the other: with
`(1 - p) ** gamma * log(1 - p)` a background sample that is sure counts fully, and one that is badly wrong hardly at all. The loss
falls, and the detector learns what it knew.

```python
positive = -t * (1 - p) ** gamma * torch.log(p)
negative = -(1 - t) * p**gamma * torch.log(1 - p)
```
"""

ROWS = ()
SOURCES = ("https://github.com/yqyao/SSD_Pytorch/issues/32",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["wrong_to_right"] < 10
    assert good["wrong_to_right"] > 1000
