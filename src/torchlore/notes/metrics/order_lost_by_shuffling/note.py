"""Predictions of a shuffled loader do not fit labels that lie in the order of the data set.

`preds` is in the order of the draw, `test_set.targets`, `y_test` or the rows of a table are in the order of the data. Compared with each
other they give the accuracy of guessing; written into a submission they give every sample the answer of another. The lengths agree and
nothing complains.

Nothing is learned from an evaluation, so do not shuffle it: `DataLoader(test_set, batch_size=64)`. Or take the labels from the same
batches as the predictions:

```python
for x, y in loader:
    preds.append(model(x).argmax(1))
    labels.append(y)
```
"""

ROWS = ()
SOURCES = ("https://github.com/pytorch/pytorch/issues/58986", "https://github.com/skorch-dev/skorch/issues/499")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["accuracy"] == 1
    assert bad["accuracy"] < 0.7
