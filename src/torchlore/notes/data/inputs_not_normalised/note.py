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

from __future__ import annotations

from torchlore.watch.pictures import Alarm, Batch

ROWS = ()
SOURCES = ("https://github.com/pytorch/vision/issues/546",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["largest"] > 200
    assert good["largest"] <= 1
    assert good["accuracy"] > bad["accuracy"] + 0.2


def watch(batch: Batch) -> Alarm | None:
    images = batch.inputs
    if batch.index > 2 or images is None or images.dim() < 3 or images.numel() < 256:
        return None
    found = batch.values(images)
    planes = [batch.values(images[:, place]) for place in (0, -1)] if images.dim() == 4 else [None]
    if found is not None and all(one is not None and one.std < 0.05 and abs(one.mean) > 1.5 for one in planes):
        return Alarm(
            f"inputs lie between {found.low:.4g} and {found.high:.4g}, so pictures hardly differ: the mean and deviation that "
            "they were normalised with belong to another range of pixels",
            at=batch.record.place,
            certain=False,
            evidence=f"a channel's standard deviation is below 0.05 in a batch of shape {tuple(images.shape)}",
        )
    if found is None or found.low < -1e4 or not (found.high > 50 and found.std > 10):
        return None
    return Alarm(
        f"inputs run from {found.low:.3g} to {found.high:.3g}, as pixels that nobody scaled; divide by 255 and normalise",
        at=batch.record.place,
        certain=False,
        evidence=f"standard deviation {found.std:.3g} in a batch of shape {tuple(images.shape)}",
    )
