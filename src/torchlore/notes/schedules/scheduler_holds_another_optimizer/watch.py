"""What a running program shows of it."""

import itertools
from collections.abc import Iterator

from torchlore.watch.pictures import Alarm, Phase
from torchlore.watch.records import SchedulerRecord

_PLAN = ("milestones", "gamma", "step_size", "T_max", "eta_min", "total_steps", "total_iters", "power", "start_factor")


def watch(phase: Phase) -> Iterator[Alarm]:
    run = phase.run
    bare = [one for one in run.optimizers if one.steps >= 6 and not one.schedulers]
    if not phase.final or run.crashed or not bare:
        return
    for one in run.schedulers:
        steps = one.optimizer.steps if one.optimizer is not None else 0
        if one.seen and steps and one.steps >= steps + 4:
            told = f"this {one.kind} was stepped {one.steps} times, and its optimizer made {steps} steps: another one trains, at a rate that never changes"
            yield Alarm(told, at=one.place)
    for one, other in itertools.combinations(run.schedulers, 2):
        if (
            one.optimizer is not None
            and one.optimizer is other.optimizer
            and one.steps == other.steps > 1
            and _same(one, other)
        ):
            told = f"two {one.kind} with the same settings hold one optimizer, and another optimizer has none: give this one the other optimizer"
            yield Alarm(told, at=other.place, certain=False)


def _same(one: SchedulerRecord, other: SchedulerRecord) -> bool:
    """The same plan twice, as far as the two are still there to be asked."""
    plans = [{key: getattr(it.thing, key) for key in _PLAN if hasattr(it.thing, key)} for it in (one, other)]
    return one.kind == other.kind and plans[0] == plans[1]
