"""What a running program shows of it."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from torchlore.watch.pictures import Alarm, Step

_EVERY, _RISES = 16, 3  # how many steps lie between two looks, and how often the number must rise and never fall
_KINDS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def watch(step: Step) -> Alarm | None:
    return _piled(step) or _hoarded(step)


def _hoarded(step: Step) -> Alarm | None:
    alive = step.run.activations_alive() if step.number >= 16 else 0
    if not step.in_a_row(2, alive >= 16 > step.run.graphs_alive()):
        return None
    keeper = step.run.keeper()
    if keeper is not None and keeper.number:
        return None  # a sum of losses: another note's
    name = f"`{keeper.name}` keeps" if keeper else "something keeps"
    told = f"{name} activations of every batch in memory, with their graph; keep `output.detach()`, and only what is needed"
    return Alarm(
        told,
        at=keeper.place if keeper else None,
        evidence=f"activations of {alive} of the last 24 backward passes are alive",
        because=("buffer-updated-with-graph",),
    )


def _piled(step: Step) -> Alarm | None:
    """One function that hangs on the same layer or weight again and again."""
    if step.number % _EVERY:
        return None
    most = max((_alike(hooks) for module in step.run.modules() for hooks in _hooks(module)), default=0)
    before, rises = step.memory.get("hooks", (most, 0))
    rises = 0 if most < before else rises + (most > before)
    step.memory["hooks"] = most, rises
    if rises < _RISES or most <= _RISES:
        return None
    told = "the same hook is added again and again, and all of them run in every pass; add it once above the loop, or call `handle.remove()`"
    at = step.place.first(r"\.register_\w*hook\(") if step.place is not None else None
    return Alarm(told, at=at, evidence=f"{most} hooks of one function on one layer or weight by step {step.number}")


def _hooks(module: Any) -> Iterator[list[Any]]:
    """The hooks of each layer, and of each weight."""
    for layer in module.modules():
        for kind in _KINDS:
            if held := getattr(layer, kind, None):
                yield list(held.values())
    for weight in module.parameters():
        if held := weight._backward_hooks:  # noqa: SLF001  # no public name tells of them
            yield list(held.values())


def _alike(hooks: list[Any]) -> int:
    """How many of them are one function of the user's own, whatever it is closed over."""
    inner = (getattr(one, "func", one) for one in hooks)  # functools.partial
    codes = [getattr(one, "__code__", type(one)) for one in inner if not _of_torch(one)]
    return max(Counter(codes).values(), default=0)


def _of_torch(hook: Any) -> bool:
    return str(getattr(hook, "__module__", "")).partition(".")[0] in ("torch", "torchlore", "accelerate")
