"""What a running program shows of it."""

from collections.abc import Iterator

from torchlore.watch.pictures import Alarm, Phase


def watch(phase: Phase) -> Iterator[Alarm]:
    record = None
    for event in phase.events:
        if event.group == "batch":
            record = event.facts["record"]
        elif event.group == "forward" and record is not None and not event.facts["training"] and record.left_out:
            told = f"drop_last leaves {record.left_out} samples out of the evaluation; drop none here"
            yield Alarm(told, at=record.place)
            return
