"""What a running program shows of it."""

from torchlore.check import tallies
from torchlore.watch.pictures import Alarm, Batch, Place


def watch(batch: Batch) -> Alarm | None:
    loader, walked = batch.loader, batch.record.loop_place
    if walked is None or not loader.batch_size:
        return None
    whole = type(loader.sampler).__name__ in ("SequentialSampler", "RandomSampler", "SubsetRandomSampler")
    size, short = loader.batch_size, len(loader.sampler) % loader.batch_size if whole else 0
    for one in tallies.seen_at(walked.path, walked.line):
        where = Place(walked.path, getattr(one.node, "lineno", walked.line))
        if one.kind == "bent" and one.by != "samples":
            return Alarm(
                "the mean of the batches' scores is not the score; collect labels and predictions and compute it once",
                at=where,
            )
        if one.kind == "mean" and one.by != "samples" and short and not loader.drop_last:
            return Alarm(
                f"the last batch of {short} counts as much as one of {size} in `{one.name}`; add up the right answers and divide by "
                "the samples", at=where, certain=False
            )  # fmt: skip
    return None
