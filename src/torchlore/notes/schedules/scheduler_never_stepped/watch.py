"""What a running program shows of it."""

from collections.abc import Iterator

from torchlore.watch.pictures import Alarm, Phase


def watch(phase: Phase) -> Iterator[Alarm]:
    for one in phase.run.schedulers if phase.final and not phase.run.crashed else ():
        steps = one.optimizer.steps if one.optimizer is not None else 0
        if not one.steps and one.seen and steps >= 16:
            yield Alarm(
                f"this {one.kind} was never stepped in {steps} steps of its optimizer, so the rate follows no plan; call its step()",
                at=one.place,
            )
