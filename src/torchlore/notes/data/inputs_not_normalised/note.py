"""Pixels of 0 to 255, or columns of very different size, make a network learn slowly or not at all.

Initial weights are made for inputs of about unit variance. Raw pixels make the first activations a hundred times too
large: softmax saturates, ReLUs die, the learning rate that fits is a thousandth of the usual. In a table one column of
large numbers drowns the others.

Scale to [0, 1] and normalise with the statistics of the training set; for tables standardise every column:

```python
image = v2.functional.to_dtype(image, torch.float32, scale=True)
columns = (columns - train.mean(0)) / train.std(0)
```

A first layer that normalises (BatchNorm, LayerNorm) does the same job; then nothing is said.
"""

ROWS = ()
SOURCES = ("https://github.com/pytorch/vision/issues/546",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["largest"] > 200
    assert good["largest"] <= 1
    assert good["accuracy"] > bad["accuracy"] + 0.2
