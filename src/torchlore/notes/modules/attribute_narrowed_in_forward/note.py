"""`self.weights = self.weights[labels]` in a forward pass replaces the table by one batch's rows.

A tensor set up in `__init__`, one number for each class, is picked from with `gather`, `index_select` or an index. Assigned back to the
same attribute, the second batch picks from the first batch's rows: its labels meet other numbers, and nothing complains as long as
the indices are in range. Class weights turn into noise, then mostly into the weight of the commonest class. The error shows at last,
as an index out of range, when a batch is smaller than the number of classes.

Give the picked rows a name of their own:

```python
alpha = self.alpha[labels]
loss = alpha * loss
```
"""

ROWS = ()
SOURCES = ("https://github.com/yatengLG/Focal-Loss-Pytorch/issues/9",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["weights_kept"] == 0
    assert good["weights_kept"] == 1
