"""`argmax(0)` of a batch of scores is the best sample of each class, not the class of each sample.

A model gives (samples, classes), so the class is `out.argmax(dim=1)`. Over dimension 0 there is one number a class: the position of a
sample in the batch. It is compared with the labels all the same if the batch happens to be as large as the number of classes, or
broadcasts, or is cut to length, and the accuracy is noise. A softmax over dimension 0 is the same slip: every class's scores sum to 1
over the batch, and what a sample gets depends on its neighbours.

```python
predicted = model(x).argmax(dim=1)
probabilities = model(x).softmax(dim=1)
```
"""

ROWS = ()
SOURCES = ("https://github.com/jolibrain/deepdetect/pull/1567",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["accuracy"] == 1
    assert bad["accuracy"] < 1
