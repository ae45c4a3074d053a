"""What a running program shows of it."""

import itertools
from collections.abc import Iterator

from torchlore.watch.pictures import Alarm, Phase, Step
from torchlore.watch.records import OptimizerRecord, SchedulerRecord

_PLAN = ("milestones", "gamma", "step_size", "T_max", "eta_min", "total_steps", "total_iters", "power", "start_factor")


def watch(picture: Phase | Step) -> Iterator[Alarm]:
    yield from _left_behind(picture) if isinstance(picture, Step) else _at_the_end(picture)


def _left_behind(step: Step) -> Iterator[Alarm]:
    """A scheduler goes on while its optimizer makes no more steps, and the one that makes them has no schedule."""
    if step.record.schedulers:
        return
    for one in step.run.schedulers:
        other = one.optimizer
        idle = other is not None and one.seen and len(one.stepped_at) >= 3 and len(set(one.stepped_at[-3:])) == 1
        held = idle and one.thing is not None and other is not step.record
        still = held and other is not None and one.stepped_at[-1] == other.steps and _replaced(step, other)
        if step.in_a_row(3, bool(still), name=str(one.key)):
            told = "the scheduler changes an optimizer that is not stepped; build it with the optimizer in use"
            yield Alarm(told, at=one.place)


def _replaced(step: Step, other: OptimizerRecord) -> bool:
    """Whether both have a parameter in common, and not the groups themselves, as SAM and its inner optimizer have."""
    groups = getattr(other.optimizer, "param_groups", ())
    own = {id(group) for group in step.groups}
    held = {id(p) for group in step.groups for p in group["params"]}
    return all(id(group) not in own for group in groups) and any(id(p) in held for g in groups for p in g["params"])


def _at_the_end(phase: Phase) -> Iterator[Alarm]:
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
