"""(time, batch, classes) and (batch, time), both flattened: each score meets another word's label.

`view(-1, classes)` and `view(-1)` only agree where both tensors have the same order of dimensions. An RNN without `batch_first`, or
`torch.stack(outputs)` of a decoder's steps, gives time first; the labels of a loader have the batch first. The counts are equal, so the
loss is computed, of pairs that do not belong together. It falls to the frequency of the labels and stays there.

Bring them into one order first:

```python
loss = criterion(scores.transpose(0, 1).reshape(-1, classes), labels.reshape(-1))
outputs = torch.stack(outputs, dim=1)     # (batch, time, classes)
```
"""

from __future__ import annotations

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = ("https://github.com/harvardnlp/namedtensor/issues/66",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["accuracy"] > 0.9
    assert bad["accuracy"] < 0.6


def watch(call: Annotated[Call, "cross_entropy"]) -> Alarm | None:
    scores, labels = getattr(call.input, "_base", None), getattr(call.target, "_base", None)
    if scores is None or labels is None or call.input.ndim != 2 or call.target.ndim != 1:
        return None
    if scores.ndim != 3 or labels.ndim != 2 or scores.shape[2] != call.input.shape[1]:
        return None
    first, second = scores.shape[:2]
    whole = scores.is_contiguous() and labels.is_contiguous() and labels.numel() == len(call.target) == first * second
    if not whole or first == second or 1 in (first, second) or tuple(labels.shape) != (second, first):
        return None
    return Alarm(
        f"the scores were {tuple(scores.shape)} and the labels {tuple(labels.shape)} before both were flattened, so they do not belong "
        "together: transpose one of them first"
    )
