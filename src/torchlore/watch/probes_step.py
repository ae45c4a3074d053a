"""What an optimizer does: its steps are counted always, and looked at closely where the pace allows."""

from __future__ import annotations

import functools
import math
import sys
import weakref
from collections import Counter
from collections.abc import Sequence
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

import torch
from torch.compiler import is_compiling
from torch.optim import optimizer as optimizers

from torchlore.watch.pictures import Call, Event, Step
from torchlore.watch.records import OptimizerRecord, Point
from torchlore.watch.session import StopAfterSteps, Watcher
from torchlore.watch.showing import ask

if TYPE_CHECKING:
    from torchlore.watch.probes import Patches

STRETCH = 16  # steps that are only counted before anything is decided again
DOT_NS = 100_000_000  # while nobody looks, the timeline gets a dot every so often: reading the memory takes 0.1 ms


def install_optimizer(watcher: Watcher, patches: Patches) -> None:
    """Global hooks of `Optimizer.step`; they fire through GradScaler, Accelerate and Lightning as well."""
    limit = watcher.options.steps or sys.maxsize
    run, made = watcher.run, watcher.run.made
    left = stretch = 0  # steps that are only counted: how many are to come, and how many there were to come at first

    def before(optimizer: Any, _args: Any, _kwargs: Any) -> None:
        if left <= 0 and watcher.rich and not is_compiling():
            before_step(watcher, optimizer_record(watcher, optimizer))

    def after(optimizer: Any, args: Any, kwargs: Any) -> None:
        nonlocal left
        if left > 0 and (key := id(optimizer)) in made:  # the way of nearly all steps: as short as can be
            made[key] += 1
            left -= 1
        elif not is_compiling():
            record = optimizer_record(watcher, optimizer)
            made[id(optimizer)] += 1
            if watcher.rich:
                after_step(watcher, record, len(args) > 1 or bool(kwargs.get("closure")))
            else:
                after_light_steps(watcher, optimizer, stretch - left + 1)
                count()
            if run.steps >= limit:
                raise StopAfterSteps(0)

    def count() -> None:
        nonlocal left, stretch
        looking = watcher.rich or run.compiled
        left = stretch = 0 if looking else min(STRETCH, watcher.pace.rest, limit - run.steps) - 1

    _install_birth(watcher, patches)
    patches.when_changed.append(count)
    patches.after.append(optimizers.register_optimizer_step_pre_hook(before).remove)
    patches.after.append(optimizers.register_optimizer_step_post_hook(after).remove)


def _install_birth(watcher: Watcher, patches: Patches) -> None:
    original = optimizers.Optimizer.__init__

    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        if not is_compiling():
            optimizer_record(watcher, self)

    patches.put(optimizers.Optimizer, "__init__", init)


def optimizer_record(watcher: Watcher, optimizer: Any) -> OptimizerRecord:
    """What is known about this optimizer."""
    found = watcher.known.get(id(optimizer))
    if found is None or found.ref() is not optimizer:
        place = watcher.map.place(watcher.map.frame(2))
        watcher.run.leave(id(optimizer))
        found = watcher.known[id(optimizer)] = OptimizerRecord(optimizer, place, watcher.run.made)
        found.first_rates = [float(group["lr"]) for group in optimizer.param_groups if "lr" in group]
        beside = [one for one in watcher.run.optimizers[-8:] if one.place == place and one.ref() is not None]
        found.label += f", number {len(beside) + 1}" if beside else ""  # made by one line, and both at work
        watcher.run.optimizers.append(found)
        params = (p for group in optimizer.param_groups for p in group["params"])
        watcher.run.owned.update((id(p), weakref.ref(p)) for p in params)
        watcher.add(Event("Optimizer", "state", place, found.key, {"record": found}))
        ask(watcher, Call(watcher.run, place, "Optimizer", "state"), (optimizer,), {}, None, False)
    return found  # type: ignore[no-any-return]  # the table holds records of several kinds


def after_light_steps(watcher: Watcher, optimizer: Any, steps: int) -> None:
    """So many steps were only counted; now and then begin to look closely again."""
    if watcher.pace.elapsed_ns - watcher.dotted[0] > DOT_NS:
        start = perf_counter_ns()
        note_point(watcher, optimizer_record(watcher, optimizer), None)
        watcher.pace.spent_ns += perf_counter_ns() - start
    if watcher.pace.rested(steps):
        watcher.open()


def before_step(watcher: Watcher, record: OptimizerRecord) -> None:
    """Whether gradients of the previous step are still in these ones."""
    with watcher.shield():
        _compare_gradients(record)


def _compare_gradients(record: OptimizerRecord) -> None:
    if record.first is None or (parameter := record.first()) is None:
        groups = record.optimizer.param_groups
        trainable = (p for group in groups for p in group["params"] if p.requires_grad)
        parameter = next(trainable, None)
        record.first = weakref.ref(parameter) if parameter is not None else None
    grad = parameter.grad if parameter is not None else None
    same = grad is not None and record.gradient is not None and grad is record.gradient()
    record.at_step = record.trace()
    record.carried_over = same and not record.zeroed and grad._version > record.version  # type: ignore[union-attr]  # noqa: SLF001 - the documented in-place counter


def after_step(watcher: Watcher, record: OptimizerRecord, closure: bool) -> None:
    """A step was made: show it, then decide how closely to look at the next."""
    start = perf_counter_ns()
    busy, watcher.busy = watcher.busy, False  # a step inside GradScaler.step is the user's as well
    with watcher.shield():
        _look_at_step(watcher, record, closure)
    watcher.busy = busy
    watcher.deep.stepped(record)
    if not watcher.pace.stepped():
        watcher.deep.stop()
        watcher.close()
    watcher.pace.spent_ns += perf_counter_ns() - start


def _look_at_step(watcher: Watcher, record: OptimizerRecord, closure: bool) -> None:
    place = watcher.map.place(watcher.map.frame(3))
    watcher.add(Event("step", "step", place, record.key, {"optimizers": {record.key}}))
    if record.mark >= 0 or record.steps == 1:
        step = Step(watcher.run, place, record, watcher.since(max(record.mark, 0)))
        step.closure = closure
        step.deep = watcher.deep.due()
        watcher.show(step, watcher.by_picture["Step"])
        if "Optimizer.step" in watcher.by_name:
            call = Call(watcher.run, place, "Optimizer.step", "step")
            ask(watcher, call, (record.optimizer,), {}, None, False)
        if step.deep or not record.steps % watcher.stride:
            note_point(watcher, record, step)
    record.mark = watcher.mark
    record.zeroed = False
    record.touched = False
    parameter = record.first() if record.first is not None else None
    grad = parameter.grad if parameter is not None else None
    record.gradient = weakref.ref(grad) if grad is not None else None
    record.version = grad._version if grad is not None else 0  # noqa: SLF001 - the documented in-place counter


def note_point(watcher: Watcher, record: OptimizerRecord, step: Step | None) -> None:
    """One dot of the timeline; every second one of each optimizer is dropped when there are a thousand."""
    run, now = watcher.run, watcher.pace.elapsed_ns
    norms = step.gradient_norms if step is not None else None
    total = math.sqrt(sum(norm * norm for norm in norms.values())) if norms else None
    rate = next((float(group["lr"]) for group in record.optimizer.param_groups if "lr" in group), None)
    waited = sum(loader.wait_ns for loader in run.loaders)
    since, before = watcher.dotted
    share = min(1.0, (waited - before) / max(now - since, 1)) if step is not None and run.history else None
    watcher.dotted = (now, waited)
    own = step is not None or watcher.pace.every == 1 or len(run.optimizers) == 1  # not the last one seen, of another's
    run.history.append(
        Point(run.steps, now / 1e9, run.loss if own else None, rate, total, memory_used(), share, record.label)
    )
    if len(run.history) >= 1000:
        run.history[:] = every_second(run.history)
        watcher.stride *= 2


def every_second(history: Sequence[Point]) -> list[Point]:
    """The first, third, … point of each optimizer."""
    seen: Counter[str] = Counter()
    kept = []
    for point in history:
        if not seen[point.optimizer] % 2:
            kept.append(point)
        seen[point.optimizer] += 1
    return kept


def memory_used() -> int:
    """Bytes in use: on the GPU if there is one in use, else resident memory."""
    if torch.cuda.is_initialized():
        return int(torch.cuda.memory_allocated())
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - 10 us matter here
            return int(file.read().split()[1]) * 4096
    except OSError:
        return 0
