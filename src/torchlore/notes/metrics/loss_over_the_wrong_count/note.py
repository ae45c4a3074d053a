"""A sum of batch means is divided by batches, a sum over samples by samples.

`loss.item()` is the mean over the batch. Add these up and divide by `len(loader.dataset)`, and the result is smaller than
the loss by the batch size. Multiply each by its batch size first and divide by `len(loader)`, and it is larger by as much.
Curves keep their shape, so nobody notices, until two runs with different batch sizes are compared, or training (one way)
and validation (the other). `loss.item() * args.batch_size` counts the short last batch as a full one. Other divisors are no
count of the batches at all: the `i` that `enumerate` leaves behind is one too small, the number of epochs or the length of
another loader has nothing to do with it.

Weigh by the batch and divide by what was seen, which is right for a short last batch too:

```python
total += loss.item() * x.size(0)
seen += x.size(0)
mean = total / seen
```
"""

import ast

from torchlore.check import tallies
from torchlore.watch.pictures import Alarm, Batch, Place

ROWS = ()
SOURCES = (
    "https://github.com/pytorch/tutorials/issues/179",
    "https://github.com/sthalles/SimCLR/pull/5",
    "https://github.com/neuraloperator/neuraloperator/issues/294",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert abs(good["mean"] - 2.0) < 1e-6
    assert abs(bad["mean"] - 0.2) < 1e-6


def watch(batch: Batch) -> Alarm | None:
    loader, walked = batch.loader, batch.record.loop_place
    if walked is None or not loader.batch_size:
        return None
    whole = type(loader.sampler).__name__ in ("SequentialSampler", "RandomSampler", "SubsetRandomSampler")
    size, short = loader.batch_size, len(loader.sampler) % loader.batch_size if whole else 0
    for one in tallies.seen_at(walked.path, walked.line):
        where = Place(walked.path, getattr(one.division, "lineno", walked.line))
        if one.by in tallies.ODD:
            return Alarm(
                tallies.ODD[one.by].format(by=ast.unparse(one.below or one.loop.iter), name=one.name, over=one.over),
                at=where,
            )
        if one.kind == "loss" and one.by == "samples" and size > 1:
            return Alarm(f"`{one.name}` adds up the means of batches of {size} and is divided by all samples; add "
                         "loss.item() * len(x)", at=where)  # fmt: skip
        if one.kind == "nominal" and one.by == "samples" and short and not loader.drop_last:
            return Alarm(
                f"`{one.name}` counts the last batch of {short} as one of {size}; multiply by len(x)", at=where
            )
    return None
