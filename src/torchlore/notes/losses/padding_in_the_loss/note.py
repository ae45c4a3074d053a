"""A loss over padded sequences counts the padding: give the padding's index as `ignore_index`.

`CrossEntropyLoss()` leaves out targets of -100 and nothing else. Where shorter sequences are filled up with index 0 or 1, the model is
also paid for predicting padding after padding, which is easy: the loss looks low, the gradient is diluted, and a batch with one long
sentence hardly learns from the others.

```python
criterion = nn.CrossEntropyLoss(ignore_index=pad_idx)
```

Padding with -100, or a mask on the loss of each position (`reduction="none"`), does the same.
"""

ROWS = ()
SOURCES = (
    "https://github.com/bentrevett/pytorch-seq2seq",
    "https://github.com/lucidrains/DALLE-pytorch/issues/57",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["loss"] < 0.7 * good["loss"]  # half of it is padding, which the model predicts well
