"""DistributedSampler shuffles the same way in every epoch until `set_epoch` is called.

The sampler seeds its shuffle with `seed + epoch`, so that all processes agree, and the epoch is what you tell it. Without
`sampler.set_epoch(epoch)` it stays 0: every epoch has the same order, and every process sees the same batches over and
over. Nothing fails; training just loses most of what shuffling is for.

```python
for epoch in range(epochs):
    sampler.set_epoch(epoch)
    for batch in loader:
        ...
```

Lightning, Accelerate and the HF Trainer call it for you.
"""

from torchlore.watch.pictures import Alarm, Batch

ROWS = ()
SOURCES = ("https://github.com/pytorch/pytorch/issues/31771",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, bool], good: dict[str, bool]) -> None:
    assert bad["same_order"]
    assert not good["same_order"]


def watch(batch: Batch) -> Alarm | None:
    sampler = getattr(batch.loader, "sampler", None)
    known = type(sampler).__name__ == "DistributedSampler" and getattr(sampler, "shuffle", False)
    before = batch.memory.get("at", (-1, -1, 0))
    batch.memory["at"] = (batch.epoch, batch.index, batch.run.backwards)
    trained = before[:2] == (batch.epoch, batch.index - 1) and batch.run.backwards > before[2]  # no evaluation
    if not known or not trained or batch.epoch < 1 or getattr(sampler, "epoch", 1) != 0:
        return None
    return Alarm(
        f"epoch {batch.epoch + 1} has the same order as the first; call sampler.set_epoch(epoch) before each epoch",
        at=batch.record.place,
    )
