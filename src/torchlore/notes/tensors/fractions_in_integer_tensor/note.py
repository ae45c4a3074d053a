"""A fraction written into an integer tensor becomes 0: `zeros_like(labels)` has the labels' type.

`zeros_like`, `full_like` and `new_zeros` take the dtype of their model, and class labels and `F.one_hot` are int64. Filling, indexing
and scattering then cut every fraction off, without a warning: soft labels of 0.9 and 0.05 are all 0, weights of 1/n vanish.

Ask for floats where the tensor is made:

```python
soft = torch.full_like(one_hot, eps / classes, dtype=torch.float32)
weights = torch.zeros_like(labels, dtype=torch.float32)
```
"""

ROWS = ()
SOURCES = ("https://docs.pytorch.org/docs/stable/generated/torch.full_like.html",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["mass"] == 0.0
    assert good["mass"] == 1.0
