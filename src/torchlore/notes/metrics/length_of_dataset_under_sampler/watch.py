"""What a running program shows of it."""

from torchlore.check import tallies
from torchlore.watch.pictures import Alarm, Batch, Place

_PARTIAL = ("SubsetRandomSampler", "DistributedSampler", "SubsetSampler")


def watch(batch: Batch) -> Alarm | None:
    sampler, walked = batch.loader.sampler, batch.record.loop_place
    if walked is None or type(sampler).__name__ not in _PARTIAL:
        return None
    drawn, whole = len(sampler), len(batch.dataset)
    for one in tallies.seen_at(walked.path, walked.line) if drawn < whole else ():
        if one.by == "samples":
            return Alarm(
                f"{one.over} draws {drawn} samples and `{one.name}` is divided by all {whole}; divide by len({one.over}.sampler)",
                at=Place(walked.path, getattr(one.division, "lineno", walked.line)),
            )
    return None
