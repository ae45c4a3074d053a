"""A training loader without `shuffle=True` hands the data out as they lie: class after class.

`DataLoader(train_set, batch_size=64)` does not shuffle. Most datasets lie sorted (an image folder: class by class), so
every batch holds one class, batch norm sees one class at a time, and each update undoes the one before. The loss of the
last batches looks fine, the test does not.

Write `DataLoader(train_set, batch_size=64, shuffle=True)`, or give a sampler. Time series and evaluation keep their
order; a stream (`IterableDataset`) must shuffle itself.
"""

from torchlore.watch.pictures import Alarm, Batch

ROWS = ()
SOURCES = ("https://github.com/Deci-AI/super-gradients/issues/416",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["classes_in_a_batch"] == 1.0
    assert good["classes_in_a_batch"] > 3.0


def watch(batch: Batch) -> Alarm | None:
    labels, sampler = batch.labels, type(getattr(batch.loader, "sampler", None)).__name__
    if labels is None or labels.numel() < 4 or labels.is_cuda or sampler != "SequentialSampler":
        return None
    only = int(labels[0]) if bool((labels == labels[0]).all()) else None
    classes = batch.memory.setdefault("classes", set()) | ({only} if only is not None else set())
    batch.memory["classes"] = classes
    mixed = batch.memory.get("mixed", 0) + (only is None)
    batch.memory["mixed"] = mixed
    ready = _trained_on(batch) >= 6 and len(classes) >= 2 and batch.record.batches >= 8
    if not ready or 4 * mixed > batch.record.batches:
        return None
    return Alarm(
        "nearly every training batch holds a single class; add shuffle=True to the loader", at=batch.record.place
    )


def _trained_on(batch: Batch) -> int:
    """How many of its batches had a backward before the next one came: an evaluation's have none."""
    now = (batch.epoch, batch.index, batch.run.backwards)
    epoch, index, backwards = batch.memory.get("last", (-1, -1, 0))
    followed = batch.epoch == epoch and batch.index == index + 1 and batch.run.backwards > backwards
    batch.memory["last"] = now
    batch.memory["trained"] = batch.memory.get("trained", 0) + followed
    return int(batch.memory["trained"])
