"""What a running program shows of it."""

import weakref
from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call, Step


def watch(picture: Annotated[Call, "Module.eval", "Module.train", "forward"] | Step) -> Alarm | None:
    asleep: dict[int, Any] = picture.notes.setdefault("asleep", {})  # nets put into eval mode -> where
    if isinstance(picture, Step):
        return _woken(picture, asleep) if asleep and picture.number in (3, 8, 20) else None
    if picture.name == "forward":
        return None if picture.grad_enabled else _never_switched(picture)
    if picture.name == "Module.eval":
        asleep[id(picture.owner)] = (weakref.ref(picture.owner), picture.place)
    else:
        asleep.pop(id(picture.owner), None)
    return None


def _woken(step: Step, asleep: dict[int, Any]) -> Alarm | None:
    """A net that no optimizer holds was put into eval mode, and is in train mode now though nobody switched it itself."""
    held = step.run.held()
    for ref, place in asleep.values():
        net = ref()
        if net is None or not net.training or any(id(p) in held for p in net.parameters()):
            continue
        if (layers := _active(net)) and next(net.parameters(), None) is not None:
            told = f"train() of the module around it switched this {type(net).__name__} back to train mode, though nothing trains it; override train() there and call eval() on it"
            return Alarm(told, at=place, evidence=f"active: {', '.join(layers[:3])}")
    return None


def _never_switched(call: Call) -> Alarm | None:
    """A net whose parameters are all frozen answers without gradients, in train mode, step after step."""
    net = call.owner
    seen: dict[int, Any] = call.notes.setdefault("seen", {})
    if not net.training or seen.get(id(net)) == "other":
        return None
    weights = list(net.parameters())
    known = seen.get(id(net))
    if known is None:
        other = not weights or any(p.requires_grad for p in weights)
        wait = 30 if not other and _is_copy(call, weights[0]) else 4  # a copy may follow its net, now and then
        kept = None if other else weights[0].detach().clone()
        seen[id(net)] = "other" if other else (weakref.ref(net), _state(weights[0]), call.run.steps + wait, kept)
        return None
    ref, version, last, kept = known
    if ref() is net and _state(weights[0]) != version:
        seen[id(net)] = "other"
    if ref() is not net or _state(weights[0]) != version or call.run.steps < last:
        return None
    if not bool((kept == weights[0].detach()).all()):  # `p.data.mul_(d)` leaves the counter as it was
        seen[id(net)] = "other"
        return None
    layers = _active(net)
    told = f"{type(net).__name__} is frozen and still in train mode, so its dropout and batch norm change what it says; call eval() on it"
    return Alarm(told, certain=False, evidence=f"active: {', '.join(layers[:3])}") if layers else None


def _active(net: Any) -> list[str]:
    from torchlore.watch.graph import mode_sensitive

    return [name for name, layer in mode_sensitive(net) if layer.training]


def _is_copy(call: Call, weight: Any) -> bool:
    """Whether it begins as a copy of a net that is trained: such a one may follow it, in its mode."""
    trained = (p for module in call.run.modules() for p in module.parameters() if p.requires_grad)
    return any(
        p.shape == weight.shape and bool((p.detach() == weight).all()) for p in trained if p.is_cpu and weight.is_cpu
    )


def _state(weight: Any) -> tuple[int, int]:
    """What changes when somebody writes to a weight, or gives it other `.data`: an average that follows a net does."""
    return weight._version, weight.data_ptr()  # noqa: SLF001 - the documented in-place counter
