"""What a running program shows of it."""

from typing import Any

from torchlore.watch.pictures import Alarm, Step


def watch(step: Step) -> Alarm | None:
    for one in step.record.schedulers:
        each = one.steps >= step.number - 1 > 3
        told = _wrong(one.thing, step, one.steps) if each and step.rates and step.record.first_rates else ""
        if told:
            return Alarm(told, at=one.step_place, certain=False)
    return None


def _wrong(scheduler: Any, step: Step, steps: int) -> str:
    """What a schedule that counts epochs does where it is stepped after every batch; "" where it seems meant."""
    kind, first, rate = type(scheduler).__name__, step.record.first_rates[0], step.rates[0]
    batches = [event.facts["record"] for event in step.of("batch")]
    loader = batches[-1].loader if batches else None
    length = len(loader) if loader is not None and hasattr(loader.dataset, "__len__") else 0
    if kind == "CosineAnnealingLR":
        again = steps > (2 if length >= scheduler.T_max else 8) * scheduler.T_max > 0
        return (
            f"T_max={scheduler.T_max} counts epochs, and {kind} is stepped after every batch, so the rate goes up and down many times; step it at the end of the epoch"
            if again
            else ""
        )
    if kind == "ReduceLROnPlateau":
        early = 1 < length <= steps and scheduler.patience < length
        early |= not length and step.number <= 150 and scheduler.patience <= 10 and rate <= 0.011 * first
        return (
            f"{kind} is stepped after every batch, and patience={scheduler.patience} counts its steps; step it once an epoch"
            if early
            else ""
        )
    if kind not in ("StepLR", "MultiStepLR", "ExponentialLR"):
        return ""
    every = {"StepLR": "step_size", "ExponentialLR": ""}.get(kind)
    small = length and (getattr(scheduler, every) < length if every else every == "" and scheduler.gamma <= 0.975)
    if (small and rate < 0.05 * first and steps < 20 * length) or (rate < 1e-4 * first and step.number < 400):
        return f"{kind} is stepped after every batch and has taken the rate from {first:.3g} to {rate:.3g} in {step.number} steps; step it at the end of the epoch"
    return ""
