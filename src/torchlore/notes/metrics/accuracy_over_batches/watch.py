"""What a running program shows of it."""

from torchlore.check import tallies
from torchlore.watch.pictures import Alarm, Batch, Place


def watch(batch: Batch) -> Alarm | None:
    size, walked = batch.loader.batch_size, batch.record.loop_place
    if not size or size < 2 or walked is None:
        return None
    for one in tallies.seen_at(walked.path, walked.line):
        if one.kind == "count" and one.by == "batches":
            return Alarm(
                f"`{one.name}` counts samples and is divided by len({one.over}), the number of batches of {size}; divide by "
                f"len({one.over}.dataset)",
                at=Place(walked.path, getattr(one.division, "lineno", walked.line)),
            )
    return None
