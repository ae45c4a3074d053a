"""What a running program shows of it."""

from torchlore.watch.pictures import Alarm, Batch


def watch(batch: Batch) -> Alarm | None:
    given = batch.inputs
    if batch.epoch or batch.index > 1 or given is None or given.device.type != "cpu" or len(given) < 4:
        return None
    same = bool((given == given[:1]).all()) and bool((given[0] != given[0].flatten()[0]).any())
    if not batch.times(2, same):
        return None
    labels = batch.labels
    return Alarm(
        f"all {len(given)} samples of a batch are the same: the data set does not use its index",
        at=batch.record.place,
        certain=labels is not None and bool((labels != labels[0]).any()),
    )
