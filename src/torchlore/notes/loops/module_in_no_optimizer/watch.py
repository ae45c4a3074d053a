"""What a running program shows of it."""

import weakref
from typing import Any

from torchlore.watch.pictures import Alarm, Step


def watch(step: Step) -> Alarm | None:
    if step.number == 1:
        parts = (p for module in step.run.modules() for p in module.parameters())
        step.memory["asleep"] = [weakref.ref(p) for p in parts if not p.requires_grad]
    if (woken := _woken(step)) is not None:
        return woken
    if step.reached is None or step.number < 3:
        return None
    held, names = step.run.ever_held(), step.run.parameter_names()
    frozen = {id(p) for module in step.run.modules() if not module.training for p in module.parameters()}
    versions = step.memory.setdefault("versions", {})
    free = [p for p in step.reached if type(p).__name__ == "Parameter" and id(p) not in held and id(p) not in frozen]
    still = [p for p in free if versions.setdefault(id(p), p._version) == p._version]  # noqa: SLF001 - who writes to it trains it by hand
    alone = {
        id(p)
        for module in step.run.modules()
        if not any(id(p) in held for p in module.parameters())
        for p in module.parameters()
    }
    wide = [p for p in step.reached if p.dim() > 1]  # those next to the loss come first
    head = {id(p) for p in wide[:1]}
    few = len(still) * 4 < len(step.reached) and (len(step.groups) > 1 or _passed_over(step, still, held))
    lost = [p for p in still if few or id(p) in alone | head or id(p) not in names]
    last = bool(lost) and (not wide or any(id(p) in head or id(p) not in names for p in lost))
    drawn = bool(lost) and not step.run.counts["Module.load_state_dict"]  # else pretrained features, left as they are
    if not step.times(3, (last or drawn) and any(id(p) in held for p in step.reached)) or _target(step, lost, held):
        return None
    what = ", ".join(sorted({names.get(id(p), f"a Parameter of shape {tuple(p.shape)}") for p in lost})[:3])
    return Alarm(
        f"{what} get gradients in every step and are in no optimizer, so they never change; give the optimizer their module too",
        at=step.record.place,
        evidence=f"{len(lost)} of the {len(step.reached)} parameters that the loss depends on",
        because=(
            "modules-in-plain-container",
            "layer-created-in-forward",
            "optimizer-before-model-change",
            "parameter-moved-on-creation",
        ),
    )


def _passed_over(step: Step, still: list[Any], held: set[int]) -> bool:
    """Whether each is a module's own parameter beside layers that are all held: the optimizer was given the layers one by one."""
    inner = (part for module in step.run.modules() for part in module.modules() if any(True for _ in part.children()))
    bare = {
        id(own)
        for part in inner
        if all(id(p) in held for child in part.children() for p in child.parameters())
        for own in part.parameters(recurse=False)
    }
    return bool(still) and all(id(p) in bare for p in still)


def _target(step: Step, lost: list[Any], held: set[int]) -> bool:
    """Whether these are a copy of a network that is trained, filled by load_state_dict: a target that was not detached."""
    shapes = sorted(tuple(p.shape) for p in lost)
    trained = ([*module.parameters()] for module in step.run.modules())
    twin = any(
        sorted(tuple(p.shape) for p in parts) == shapes and all(id(p) in held for p in parts) for parts in trained
    )
    return twin and bool(step.run.counts["Module.load_state_dict"])


def _woken(step: Step) -> Alarm | None:
    """Parameters that were frozen at first and are not any more, but that nobody steps."""
    parts = [p for ref in step.memory.get("asleep", ()) if (p := ref()) is not None]
    held = step.run.ever_held() if any(p.grad is not None for p in parts) else set()
    lost = [p for p in parts if p.requires_grad and p.grad is not None and id(p) not in held]
    if not step.in_a_row(3, bool(lost), name="woken"):
        return None
    names = step.run.parameter_names()
    what = ", ".join(names.get(id(p), "a parameter") for p in lost[:3])
    return Alarm(
        f"{what} are not frozen any more and are in no optimizer, so they never change; call optimizer.add_param_group",
        at=step.record.place,
        evidence=f"{len(lost)} parameters get gradients that nobody applies",
    )
