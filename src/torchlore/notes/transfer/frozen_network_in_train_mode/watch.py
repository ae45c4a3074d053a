"""What a running program shows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlore.watch.pictures import Alarm, Step

if TYPE_CHECKING:
    from torch import nn


def watch(step: Step) -> Alarm | None:
    """A frozen network, or a frozen part of one, is in train mode while something else learns."""
    if step.number == 3:
        return _woken(step)
    return _never_rested(step) if step.number in (4, 9) else None


def _woken(step: Step) -> Alarm | None:
    """A part that was put into eval mode by name, and that `train()` of the whole has woken."""
    rested = {event.subject: event for event in step.run.seen["Module.eval"]}
    trained = {event.subject for event in step.run.seen["Module.train"]}
    for root in step.run.modules() if rested else ():
        for name, module in root.named_modules():
            event = rested.get(id(module)) if name and id(module) not in trained else None
            if event is not None and (kinds := _awake(module)):
                told = f"`{name}` was put into eval mode here and is back in train mode, because train() of {type(root).__name__} reaches it; call `{name}.eval()` after each train()"
                return Alarm(told, at=event.place, evidence=f"{', '.join(kinds)} in train mode at step 3")
    return None


def _never_rested(step: Step) -> Alarm | None:
    """A network that is called without gradients in each step; one whose weights follow the trained ones is left alone."""
    for event in step.of("forward"):
        root = event.facts["record"]
        module = root.module if event.facts["training"] and not event.facts["grad_enabled"] else None
        kinds = _awake(module) if module is not None else []
        if module is None or not kinds:
            continue
        now = sum(one._version for one in module.parameters())  # noqa: SLF001  # the only count of writes there is
        before = step.memory.setdefault("versions", {}).setdefault(id(module), now)
        if step.number == 9 and before == now:
            told = f"{root.kind} is frozen and still in train mode, so {' and '.join(kinds)} in it change what it says; call its eval()"
            return Alarm(told, at=event.place, evidence="called without gradients in training mode at steps 4 and 9")
    return None


def _awake(module: nn.Module) -> list[str]:
    """The kinds of layers in train mode for which it matters, where all weights are frozen."""
    parameters = list(module.parameters())
    if not parameters or any(one.requires_grad for one in parameters):
        return []
    layers = [one for one in module.modules() if one.training]
    return sorted({kind for one in layers if "BatchNorm" in (kind := type(one).__name__) or _drops(one)})


def _drops(layer: nn.Module) -> bool:
    return "Dropout" in type(layer).__name__ and bool(layer.p)
