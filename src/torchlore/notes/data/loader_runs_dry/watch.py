"""What a running program shows of it."""

from collections.abc import Iterator

from torchlore.watch.pictures import Alarm, Phase


def watch(phase: Phase) -> Iterator[Alarm]:
    for one in phase.run.loaders if phase.final and phase.run.steps else ():
        if one.batches > 1 and one.empty > 1:
            yield Alarm(
                f"this loader gave {one.batches} batches in the first epoch and none in {one.empty} epochs after it: its data set is "
                "used up; make the generator in __iter__",
                at=one.place,
            )
