"""A validation loop that scores against the labels of the training loop reports noise.

Copied from the training loop, `criterion(outputs_val, labels)` still means the last training batch: the name outlives its loop. If the
batches are equally large nothing complains, and the loss that chooses the checkpoint is that of random pairs. With a shorter last batch
it broadcasts or raises, at the end of an epoch.

Use the names of the loop:

```python
for images_val, labels_val in val_loader:
    loss = criterion(model(images_val), labels_val)
```

A function of its own for the evaluation has no such names to confuse.
"""

ROWS = ()
SOURCES = ("https://github.com/meetps/pytorch-semseg/commit/81997cd5af36759773a67b11cf148d3876b13a69",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["accuracy"] == 1
    assert bad["accuracy"] < 0.9
