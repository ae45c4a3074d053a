"""Learning-rate schedules as pure functions of time, a torch scheduler around them, and their picture.

A schedule maps a time (a step, or an epoch) to a factor of each group's own rate. It keeps no state, so resuming is
calling it with the right number. `Warmup` multiplies what it wraps and leaves its time alone: `Warmup(Cosine(90), 5)`
still ends at 90, and a milestone at 50 still means 50.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, Protocol

import torch
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from torchlore.recipes import _wants

if TYPE_CHECKING:
    from collections.abc import Sequence

Kind = Literal["linear", "constant", "stepped"]
Unit = Literal["step", "epoch"]


class Schedule(Protocol):
    """A function of time that gives the factor of the learning rate; any plain function will do."""

    def __call__(self, time: float, /) -> float:
        """Give the factor at a time that starts at 0."""


def _clock(time: float) -> float:
    try:
        if time >= 0:
            return time
    except TypeError:
        pass  # said below
    raise ValueError(f"time is {time!r}; it must be a number of 0 or more: the first step or epoch is 0.")


@dataclass(frozen=True)
class Constant:
    """The same factor for ever.

    >>> Constant()(7)
    1.0
    """

    factor: float = 1.0

    def __post_init__(self) -> None:
        _wants.from_0("Constant", factor=self.factor)

    def __call__(self, time: float) -> float:
        """Give the factor at a time."""
        _clock(time)
        return self.factor


@dataclass(frozen=True)
class Step:
    """Multiply by gamma after every `size` steps.

    >>> [Step(2)(t) for t in range(5)]
    [1.0, 1.0, 0.1, 0.1, 0.010000000000000002]
    """

    size: int
    gamma: float = 0.1

    def __post_init__(self) -> None:
        _wants.whole("Step", 1, size=self.size)
        _wants.above_0("Step", gamma=self.gamma)

    def __call__(self, time: float) -> float:
        """Give the factor at a time."""
        return float(self.gamma ** (_clock(time) // self.size))


@dataclass(frozen=True)
class MultiStep:
    """Multiply by gamma at each milestone.

    >>> [MultiStep((50, 70), 0.5)(t) for t in (49, 50, 69, 70)]
    [1.0, 0.5, 0.5, 0.25]
    """

    milestones: tuple[int, ...]
    gamma: float = 0.1

    def __post_init__(self) -> None:
        given = _wants.several("MultiStep", Real, "a number", milestones=self.milestones)
        object.__setattr__(self, "milestones", tuple(given))
        if given != sorted(set(given)) or min(given, default=1) <= 0:
            raise ValueError(f"MultiStep: milestones are {self.milestones}; they must be rising numbers above 0.")
        _wants.above_0("MultiStep", gamma=self.gamma)

    def __call__(self, time: float) -> float:
        """Give the factor at a time."""
        return float(self.gamma ** sum(_clock(time) >= milestone for milestone in self.milestones))


@dataclass(frozen=True)
class Cosine:
    """Fall from 1 to `end` along half a cosine, then stay there (torch's own rises again).

    >>> [round(Cosine(4)(t), 3) for t in (0, 1, 2, 3, 4, 9)]
    [1.0, 0.854, 0.5, 0.146, 0.0, 0.0]
    """

    total: float
    end: float = 0.0

    def __post_init__(self) -> None:
        _wants.above_0("Cosine", total=self.total)
        _wants.share("Cosine", end=self.end)

    def __call__(self, time: float) -> float:
        """Give the factor at a time."""
        part = min(_clock(time) / self.total, 1.0)
        return self.end + (1 - self.end) * (1 + math.cos(math.pi * part)) / 2


@dataclass(frozen=True)
class Polynomial:
    """Fall from 1 to `end` as a power of what is left; power 1 is a straight line.

    >>> [Polynomial(4, power=2)(t) for t in (0, 2, 4, 5)]
    [1.0, 0.25, 0.0, 0.0]
    """

    total: float
    power: float = 1.0
    end: float = 0.0

    def __post_init__(self) -> None:
        _wants.above_0("Polynomial", total=self.total, power=self.power)
        _wants.share("Polynomial", end=self.end)

    def __call__(self, time: float) -> float:
        """Give the factor at a time."""
        left = 1 - min(_clock(time) / self.total, 1.0)
        return float(self.end + (1 - self.end) * left**self.power)


@dataclass(frozen=True)
class OneCycle:
    """Rise from `start` to 1 in the first part of the time, then fall to `end`; the group's rate is the peak.

    The same numbers as `torch.optim.lr_scheduler.OneCycleLR(max_lr, total)` gives, without its cycled momentum.

    >>> [round(OneCycle(11, rise=0.5)(t), 3) for t in (0, 2, 4, 7, 10)]
    [0.04, 0.437, 0.971, 0.571, 0.0]
    """

    total: int
    rise: float = 0.3
    start: float = 1 / 25
    end: float = 1 / 25e4

    def __post_init__(self) -> None:
        _wants.whole("OneCycle", 1, total=self.total)
        _wants.number("OneCycle", "above 0 and below 1: the rest is the fall", lambda x: 0 < x < 1, rise=self.rise)
        _wants.share("OneCycle", start=self.start, end=self.end)

    def __call__(self, time: float) -> float:
        """Give the factor at a time."""
        peak = self.rise * self.total - 1
        last = max(self.total - 1, peak)
        time = min(_clock(time), last)
        if time <= peak:
            return _bend(self.start, 1.0, time / peak if peak > 0 else 1.0)
        return _bend(1.0, self.end, (time - peak) / (last - peak))


def _bend(start: float, end: float, part: float) -> float:
    return end + (start - end) * (1 + math.cos(math.pi * part)) / 2


@dataclass(frozen=True)
class Warmup:
    """Hold the rate low for the first steps of another schedule.

    `linear` gives 1/steps, 2/steps, ... 1, or from `start` evenly to 1; `constant` holds `start`; `stepped` climbs
    one rung every `rung` steps, which is the ladder of the notes: `1e-4 * (epoch // 5 + 1)` for 50 epochs of a rate
    of 1e-3 is `Warmup(after, 50, "stepped", rung=5)`. The factor is never 0: a first step at rate 0 changes nothing.

    >>> [Warmup(Constant(), 4)(t) for t in range(6)]
    [0.25, 0.5, 0.75, 1.0, 1.0, 1.0]
    """

    after: Schedule
    steps: int
    kind: Kind = "linear"
    start: float | None = None
    rung: int = 1
    shift: bool = False  # start `after` at its own 0 when the warm-up is over, as SequentialLR does

    def __post_init__(self) -> None:
        _wants.function("Warmup", after=self.after)
        _wants.whole("Warmup", 0, steps=self.steps)
        _wants.whole("Warmup", 1, rung=self.rung)
        _wants.one_of("Warmup", "kind", self.kind, ("linear", "constant", "stepped"))
        if self.kind == "constant" and self.start is None:
            raise ValueError("Warmup: start is None; with kind='constant' it must be the factor to hold.")
        if self.start is not None:  # at 0 the first step would change nothing
            _wants.number("Warmup", "above 0 and at most 1", lambda x: 0 < x <= 1, start=self.start)

    def __call__(self, time: float) -> float:
        """Give the factor at a time."""
        if not self.shift and _clock(time) >= self.steps:
            return self.after(time)
        return self.ramp(time) * self.after(max(_clock(time) - self.steps, 0) if self.shift else time)

    def ramp(self, time: float) -> float:
        """Give the factor of the warm-up alone."""
        if time >= self.steps:
            return 1.0
        if self.kind == "constant":
            return self.start or 1.0
        if self.kind == "stepped":
            return (time // self.rung + 1) / math.ceil(self.steps / self.rung)
        if self.start is None:
            return min((time + 1) / self.steps, 1.0)
        return self.start + (1 - self.start) * time / self.steps


@dataclass(frozen=True)
class Epochs:
    """Let a schedule that counts epochs be asked for steps.

    >>> [Epochs(Step(1, 0.5), 3)(step) for step in range(7)]
    [1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.25]
    """

    schedule: Schedule
    steps_per_epoch: int
    smooth: bool = False  # move within an epoch too, as a cosine over steps does

    def __post_init__(self) -> None:
        _wants.function("Epochs", schedule=self.schedule)
        _wants.whole("Epochs", 1, steps_per_epoch=self.steps_per_epoch)

    def __call__(self, time: float) -> float:
        """Give the factor at a step."""
        epoch = _clock(time) / self.steps_per_epoch
        return self.schedule(epoch if self.smooth else math.floor(epoch))


@dataclass
class Plateau:
    """Multiply by `gamma` when a figure has not improved for more than `patience` looks.

    The only schedule that is no function of time. Its state is three numbers, and it behaves as
    `ReduceLROnPlateau(threshold_mode="rel")` does, but that a NaN is an error and `mode` has no default.

    >>> plateau = Plateau("max", patience=1)
    >>> [plateau.update(accuracy) for accuracy in (0.5, 0.6, 0.6, 0.6, 0.7)]
    [1.0, 1.0, 1.0, 0.1, 0.1]
    """

    mode: Literal["min", "max"]
    gamma: float = 0.1
    patience: int = 10
    threshold: float = 1e-4
    cooldown: int = 0
    least: float = 0.0  # the factor never falls below it
    factor: float = field(default=1.0, init=False)
    best: float | None = field(default=None, init=False)
    bad: int = field(default=0, init=False)
    rest: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if self.mode not in {"min", "max"}:
            raise ValueError(f"Plateau: mode is {self.mode!r}; it must be 'min' for a loss or 'max' for an accuracy.")
        _wants.number("Plateau", "above 0 and below 1", lambda x: 0 < x < 1, gamma=self.gamma)
        _wants.whole("Plateau", 0, patience=self.patience, cooldown=self.cooldown)
        _wants.from_0("Plateau", threshold=self.threshold)
        _wants.share("Plateau", least=self.least)

    def update(self, figure: float) -> float:
        """Look at a new figure and give the factor that holds from now on."""
        figure = float(figure)
        if math.isnan(figure):
            raise ValueError("the figure given to Plateau.update is NaN: the run has diverged or the metric is empty")
        if self._better(figure):
            self.best, self.bad = figure, 0
        else:
            self.bad += 1
        if self.rest > 0:
            self.rest, self.bad = self.rest - 1, 0
        if self.bad > self.patience:
            self.factor = max(self.factor * self.gamma, self.least)
            self.rest, self.bad = self.cooldown, 0
        return self.factor

    def _better(self, figure: float) -> bool:
        if self.best is None:
            return True
        if self.mode == "min":
            return figure < self.best * (1 - self.threshold)
        return figure > self.best * (1 + self.threshold)

    def state_dict(self) -> dict[str, Any]:
        """Give what changes, as plain numbers."""
        return {"factor": self.factor, "best": self.best, "bad": self.bad, "rest": self.rest}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where `state_dict` was taken."""
        self.factor, self.best = state["factor"], state["best"]
        self.bad, self.rest = state["bad"], state["rest"]


def apply(schedule: Schedule, optimizer: Optimizer, time: float, scale: float = 1.0) -> list[float]:
    """Set every group's rate for a time: all that a training loop needs, with nothing to save.

    Args:
        schedule: The factor as a function of time.
        optimizer: Each group's own rate is kept as `initial_lr` the first time.
        time: The step or epoch that is about to run, from 0.
        scale: One more factor, such as a plateau's.

    Returns:
        The rates that were set, one a group.

    >>> optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.4)
    >>> apply(Cosine(4), optimizer, 2)
    [0.2]
    """
    if not (callable(schedule) and isinstance(optimizer, Optimizer) and isinstance(scale, (int, float)) and scale >= 0):
        _wants.function("apply", schedule=schedule)
        _wants.kind("apply", Optimizer, "an optimizer of torch", optimizer=optimizer)
        _wants.from_0("apply", scale=scale)
    factor, rates = schedule(time) * scale, []
    for group in optimizer.param_groups:
        if "initial_lr" not in group:  # asked first: the host would wait for a rate that lies on a device
            group["initial_lr"] = float(group["lr"])
        rates.append(group["initial_lr"] * factor)
        _set_rate(group, rates[-1])
    return rates


def _set_rate(group: dict[str, Any], rate: float | torch.Tensor) -> None:
    if isinstance(group["lr"], torch.Tensor):  # a capturable optimizer reads its rate from this very tensor
        group["lr"].fill_(float(rate))
    else:
        group["lr"] = rate


def _each(function: str, **values: Any) -> list[Any]:
    """The one argument as a list of schedules."""
    found = _wants.several(function, object, "a schedule", **values)
    for place, one in enumerate(found):
        _wants.function(function, **{f"{next(iter(values))}[{place}]": one})
    return found


class ScheduleLR(LRScheduler):
    """A torch scheduler around a schedule, which refuses to be stepped at the wrong pace.

    `per="step"` raises when the optimizer has run more than once since the last `step()`: it was put into the epoch
    loop. `per="epoch"` raises when the optimizer has not run since, and with `steps_per_epoch` also when it ran
    another number of times (steps that a GradScaler skips may be missing). Its state is one number; loading it
    computes the rates again from the schedule.

    >>> optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    >>> scheduler = ScheduleLR(optimizer, Warmup(Constant(), 4), per="step")
    >>> optimizer.step(); scheduler.step(); scheduler.get_last_lr()
    [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedule: Schedule | Sequence[Schedule],
        *,
        per: Unit,
        steps_per_epoch: int | None = None,
        plateau: Plateau | None = None,
    ) -> None:
        _wants.one_of("ScheduleLR", "per", per, ("step", "epoch"))
        _wants.kind("ScheduleLR", Optimizer, "an optimizer of torch", optimizer=optimizer)
        _wants.kind("ScheduleLR", (Plateau, type(None)), "a Plateau or None", plateau=plateau)
        if steps_per_epoch is not None:
            _wants.whole("ScheduleLR", 1, steps_per_epoch=steps_per_epoch)
        groups = len(optimizer.param_groups)
        self.shared = schedule if callable(schedule) else None  # asked once a step for all groups
        self.schedules = [schedule] * groups if callable(schedule) else _each("ScheduleLR", schedule=schedule)
        if len(self.schedules) != groups:
            raise ValueError(
                f"ScheduleLR: schedule is a list of {len(self.schedules)} for {groups} parameter groups; give one, or one "
                "for each group."
            )
        self.per, self.steps_per_epoch, self.plateau = per, steps_per_epoch, plateau
        self.ran = 0
        self._hook = optimizer.register_step_post_hook(self._count)
        super().__init__(optimizer)

    def _count(self, *_: object) -> None:
        self.ran += 1

    def get_lr(self) -> list[float | torch.Tensor]:
        """Compute the rates at `last_epoch`, which counts steps or epochs."""
        scale = self.plateau.factor if self.plateau else 1.0
        if self.shared is not None:
            factor = self.shared(self.last_epoch)
            return [float(base) * factor * scale for base in self.base_lrs]
        return [
            float(base) * one(self.last_epoch) * scale for base, one in zip(self.base_lrs, self.schedules, strict=True)
        ]

    def step(self, epoch: float | None = None) -> None:
        """Go one step or epoch on; with a plateau, give the figure that it watches."""
        if self.last_epoch < 0:  # LRScheduler.__init__ calls step() once
            super().step()
            return
        self._check_pace()
        if self.plateau is not None:
            if epoch is None:
                raise TypeError("this scheduler watches a figure: call step(validation_figure)")
            self.plateau.update(epoch)
        elif epoch is not None:
            raise TypeError("step() takes no epoch here; the schedule counts by itself")
        self.ran = 0
        self._step_count += 1
        self.last_epoch += 1
        self._set_rates()

    def _set_rates(self) -> None:
        self._last_lr = self.get_lr()
        for group, rate in zip(self.optimizer.param_groups, self._last_lr, strict=True):
            _set_rate(group, rate)

    def _check_pace(self) -> None:
        if self.per == "step" and self.ran > 1:
            raise RuntimeError(
                f"optimizer.step() ran {self.ran} times since the last scheduler.step(), but this schedule counts "
                "steps: call scheduler.step() after each optimizer.step(), or build it with per='epoch'"
            )
        if self.per == "epoch" and self.ran == 0:
            raise RuntimeError(
                "scheduler.step() was called before optimizer.step() in this epoch: call it after the batches"
            )
        if self.per == "epoch" and self.steps_per_epoch is not None and not self._full_epoch(self.steps_per_epoch):
            raise RuntimeError(
                f"optimizer.step() ran {self.ran} times since the last scheduler.step(), but an epoch has "
                f"{self.steps_per_epoch} steps: call scheduler.step() once an epoch, or build it with per='step'"
            )

    def _full_epoch(self, expected: int) -> bool:
        return expected // 2 <= self.ran <= expected  # a GradScaler may skip some steps of an epoch

    def state_dict(self) -> dict[str, Any]:
        """Give the time, the pace and the schedule's text, all loadable with `weights_only=True`."""
        return {
            "time": self.last_epoch,
            "per": self.per,
            "ran": self.ran,
            "schedules": [repr(one) for one in self.schedules],
            "plateau": self.plateau.state_dict() if self.plateau else None,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on at the saved time; another unit is an error, because the number would mean something else."""
        if state_dict["per"] != self.per:
            raise ValueError(f"the saved schedule counts by {state_dict['per']}, this one by {self.per}")
        if (state_dict["plateau"] is None) != (self.plateau is None):
            raise ValueError("one of the saved and the present scheduler has a plateau, the other has not")
        if self.plateau is not None:
            self.plateau.load_state_dict(state_dict["plateau"])
        self.last_epoch, self.ran = int(state_dict["time"]), int(state_dict["ran"])
        self._set_rates()


def values(schedule: Schedule, steps: int, rate: float = 1.0) -> list[float]:
    """List the rate at each of the first steps.

    >>> values(Step(2), 3, rate=0.5)
    [0.5, 0.5, 0.05]
    """
    _wants.function("values", schedule=schedule)
    _wants.whole("values", 0, steps=steps)
    _wants.from_0("values", rate=rate)
    return [rate * schedule(step) for step in range(steps)]


def plot(schedules: Schedule | Mapping[str, Schedule], steps: int, rate: float = 1.0, unit: str = "step") -> str:
    """Draw schedules over time as one inline SVG that needs no other file.

    Args:
        schedules: One schedule, or several with the names they are shown under.
        steps: How far to draw.
        rate: The rate that the factors multiply.
        unit: What the time axis counts.

    Returns:
        The text of an `<svg>` element, readable on light and dark pages.

    >>> plot(Cosine(10), 10).startswith("<svg")
    True
    """
    _wants.whole("plot", 1, steps=steps)
    _wants.from_0("plot", rate=rate)
    if not callable(schedules):
        _wants.kind("plot", Mapping, "a schedule, or several by name", schedules=schedules)
    named = {"rate": schedules} if callable(schedules) else dict(schedules)
    if not named:
        raise ValueError("plot: schedules is empty; give at least one.")
    _each("plot", schedules=named.values())
    curves = {name: _thin(values(one, steps, rate)) for name, one in named.items()}
    top = max(max(value for _, value in points) for points in curves.values()) or 1.0
    if not math.isfinite(top):
        raise ValueError("a schedule gives a rate that is not a number")
    parts = [_axes(steps, top, unit)]
    for number, (name, points) in enumerate(curves.items()):
        parts.append(_curve(name, points, steps, top, number))
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 260" role="img" font-family="sans-serif" '
        f'font-size="12"><title>Learning rate</title>{"".join(parts)}</svg>'
    )


def _thin(rates: list[float], most: int = 1200) -> list[tuple[int, float]]:
    stride = max(len(rates) // most, 1)
    # a jump between two drawn points must not become a slope: keep both sides of it
    jump = 0.02 * max(rates)
    kept = {*range(0, len(rates), stride), len(rates) - 1}
    for index in range(1, len(rates)):
        if abs(rates[index] - rates[index - 1]) > jump:
            kept |= {index - 1, index}
    return [(index, rates[index]) for index in sorted(kept)]


def _axes(steps: int, top: float, unit: str) -> str:
    lines = ['<path d="M60 20V220H620" fill="none" stroke="#888"/>']
    for part in range(5):
        y, x = 220 - 50 * part, 60 + 140 * part
        lines.append(f'<path d="M60 {y}H620" stroke="#888" stroke-opacity=".25"/>')
        lines.append(f'<text x="54" y="{y + 4}" text-anchor="end" fill="#888">{top * part / 4:.3g}</text>')
        lines.append(f'<text x="{x}" y="236" text-anchor="middle" fill="#888">{steps * part / 4:g}</text>')
    lines.append(f'<text x="340" y="254" text-anchor="middle" fill="#888">{html.escape(unit)}</text>')
    return "".join(lines)


def _curve(name: str, points: list[tuple[int, float]], steps: int, top: float, number: int) -> str:
    colour = ("#3b7dd8", "#d9663b", "#3ba26b", "#a25bc4", "#b8930f", "#c4405f")[number % 6]
    drawn = " ".join(f"{60 + 560 * time / steps:.1f},{220 - 200 * value / top:.1f}" for time, value in points)
    label = f'<text x="612" y="{34 + 16 * number}" text-anchor="end" fill="{colour}">{html.escape(name)}</text>'
    return f'<polyline points="{drawn}" fill="none" stroke="{colour}" stroke-width="2"/>{label}'
