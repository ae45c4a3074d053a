"""What a running program shows of it."""

import math
import weakref
from collections.abc import Iterator
from typing import Any

from torchlore.watch.pictures import Alarm, Phase, Step, layer_line

_ALL, _SOME = 6, 40  # steps that must have passed where every gradient is zero, and where some are
_BECAUSE = (
    *("dead-relu", "zero-initialised-hidden", "single-logit-softmax", "all-targets-ignored", "learning-rate-zero"),
    *("inputs-not-normalised", "optimizer-sees-no-gradient", "zero-grad-between-backward-and-step", "twins-stay-equal"),
    "last-step-of-two-directions",  # the backward direction has read one step there: its recurrence has no part
)


def watch(picture: Step | Phase) -> Iterator[Alarm]:
    """Where all are zero it is told at once; where some are, at the end: a term may get its weight later."""
    still: dict[int, dict[str, Any]] = picture.notes.setdefault("still", {})  # optimizer -> name -> its tensor
    if isinstance(picture, Step):
        if still.get(picture.subject) != {} and picture.of("backward") and picture.trainable:
            yield from _look(picture, still)
    elif picture.final:
        for key, names in still.items():
            looks, count, place = picture.notes.get(f"looks {key}", (0, 0, None))
            found = {name: one for name, one in names.items() if _is_zero(one)}
            moving = picture.notes.get(f"moving {key}", [])
            found = {name: one for name, one in found.items() if not _has_turns(picture, name, moving)}
            if found and moving and looks >= _SOME:  # where nothing moves, the loss may be 0 already
                told = f"the gradient of {', '.join([*found][:3])} is"
                first = next(iter(found.values()))()
                line = layer_line(picture.run.modules(), first) or place
                yield _alarm(told, line, f"{len(found)} of {count} weights, {looks} steps")


def _look(step: Step, still: dict[int, dict[str, Any]]) -> Iterator[Alarm]:
    key = step.subject
    wide = {one.name: one for one in step.trainable if one.tensor.dim() > 1 and one.tensor.is_cpu}
    before = still.get(key, wide)
    now = {
        name: wide[name].tensor for name in before if name in wide and wide[name].grad is not None and wide[name].empty
    }
    still[key] = {name: weakref.ref(one) for name, one in now.items()}
    looks = step.notes.get(f"looks {key}", (0,))[0] + 1
    step.notes[f"looks {key}"] = (looks, len(wide), step.record.place)
    step.notes[f"moving {key}"] = [name for name in wide if name not in now]
    whole = bool(now) and len(now) == len(wide) and all(one.empty for one in step.trainable)
    if whole and looks == _ALL and step.run.loss and math.isfinite(step.run.loss):
        line = layer_line(step.run.modules(), next(iter(now.values()))) or step.record.place
        yield _alarm("every gradient is", line, f"{len(now)} weights, {looks} steps")
        still[key] = {}


def _alarm(told: str, line: Any, evidence: str) -> Alarm:
    return Alarm(
        f"{told} exactly zero at each step, so nothing is learnt there; look for a factor that is zero, a function that is flat, or "
        "a backward() of one's own that gives zeros back",
        at=line,
        certain=False,
        evidence=evidence,
        because=_BECAUSE,
    )


def _is_zero(ref: Any) -> bool:
    """Whether the weight is there still, and so is a gradient of zeros, or none."""
    weight = ref()
    return weight is not None and weight.requires_grad and (weight.grad is None or not bool(weight.grad.any()))


def _has_turns(phase: Phase, name: str, moving: list[str]) -> bool:
    """Whether it stands beside others that do learn in a list or dictionary, as experts and heads do."""
    kinds = ("ModuleList", "ModuleDict")
    parts = [(path, part) for module in phase.run.modules() for path, part in module.named_modules()]
    starts = {f"{path}." if path else "" for path, part in parts if type(part).__name__ in kinds}
    return any(name.startswith(one) and any(other.startswith(one) for other in moving) for one in starts)
