"""A sum of batch means is divided by batches, a sum over samples by samples.

`loss.item()` is the mean over the batch. Add these up and divide by `len(loader.dataset)`, and the result is smaller than
the loss by the batch size. Multiply each by its batch size first and divide by `len(loader)`, and it is larger by as much.
Curves keep their shape, so nobody notices, until two runs with different batch sizes are compared, or training (one way)
and validation (the other). `loss.item() * args.batch_size` counts the short last batch as a full one.

Weigh by the batch and divide by what was seen, which is right for a short last batch too:

```python
total += loss.item() * x.size(0)
seen += x.size(0)
mean = total / seen
```
"""

from torchlore.check import tallies
from torchlore.watch.pictures import Alarm, Batch, Place

ROWS = ()
SOURCES = ("https://github.com/pytorch/tutorials/issues/179",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert abs(good["mean"] - 2.0) < 1e-6
    assert abs(bad["mean"] - 0.2) < 1e-6


def watch(batch: Batch) -> Alarm | None:
    loader, walked = batch.loader, batch.record.loop_place
    if walked is None or not loader.batch_size or loader.batch_size < 2:
        return None
    whole = type(loader.sampler).__name__ in ("SequentialSampler", "RandomSampler", "SubsetRandomSampler")
    size, short = loader.batch_size, len(loader.sampler) % loader.batch_size if whole else 0
    for one in tallies.seen_at(walked.path, walked.line):
        where = Place(walked.path, getattr(one.division, "lineno", walked.line))
        if one.kind == "loss" and one.by == "samples":
            return Alarm(f"`{one.name}` adds up the means of batches of {size} and is divided by all samples; add "
                         "loss.item() * len(x)", at=where)  # fmt: skip
        if one.kind == "nominal" and one.by == "samples" and short and not loader.drop_last:
            return Alarm(
                f"`{one.name}` counts the last batch of {short} as one of {size}; multiply by len(x)", at=where
            )
    return None
