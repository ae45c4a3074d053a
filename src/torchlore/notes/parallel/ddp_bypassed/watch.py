"""What a running program shows of it."""

import weakref
from typing import TYPE_CHECKING, Annotated, Any

from torchlore.watch.pictures import Alarm, Call, Event, Step

if TYPE_CHECKING:
    from torch import nn


def watch(picture: Annotated[Call, "DistributedDataParallel"] | Step) -> Alarm | None:
    wrappers = picture.notes.setdefault("wrappers", [])
    if isinstance(picture, Call):
        if picture.error is None:
            wrappers.append(weakref.ref(picture.args[0]))
        return None
    if not wrappers:
        return None
    world = picture.run.ranks.world
    told = f"over the {world} processes" if world > 1 else "once there is more than one process"
    forwards = [one for one in picture.of("forward") if one.facts["grad_enabled"] and one.facts["record"].module]
    for wrapper in (found for ref in wrappers if (found := ref()) is not None):
        place = _around(wrapper, forwards)
        if picture.in_a_row(3, place is not None and _is_trained(wrapper, picture), f"row {id(wrapper)}"):
            return Alarm(
                "the module inside DistributedDataParallel is called here, not the wrapper: gradients are not averaged "
                f"{told}; write `model(x)` in place of `model.module(x)`",
                at=place,
                evidence="3 steps in a row without a forward of the wrapper or a reduction by hand",
            )
    return None


def _around(wrapper: Any, forwards: list[Event]) -> Any:
    """Where a part of the wrapped module was called, if the wrapper itself was not; None else."""
    inner = set(wrapper.module.modules())
    called = [(one.place, one.facts["record"].module) for one in forwards]
    if any(module not in inner and _holds(module, wrapper) for _, module in called):
        return None
    return next((place for place, module in called if place is not None and module in inner), None)


def _holds(module: "nn.Module", wrapper: Any) -> bool:
    return any(one is wrapper for one in module.modules())


def _is_trained(wrapper: Any, step: Step) -> bool:
    """The step changes its parameters, and nobody has summed anything up that could be their gradients."""
    mine = {id(p) for p in wrapper.module.parameters() if p.grad is not None}
    held = any(id(one.tensor) in mine for one in step.trainable)
    gradients = {id(p.grad) for p in wrapper.module.parameters() if p.grad is not None}
    by_hand = (
        e
        for e in step.events
        if e.group == "collective" and (e.facts["numbers"] > 64 or e.facts["tensor"] in gradients)
    )
    return held and bool(step.of("backward")) and next(by_hand, None) is None
