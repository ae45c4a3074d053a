"""An optimizer none of whose parameters ever gets a gradient steps along nothing.

It holds the parameters of another model: one that was copied, replaced, reloaded or rebuilt after the optimizer was
made, or the graph was cut between the loss and the weights. `step()` skips parameters whose `.grad` is None, so nothing
raises; the loss just stays where it is.

Make the optimizer from the very model that is called in the loop, after it is complete, and check once that
`all(p.grad is not None for p in model.parameters())` after the first `backward()`.
"""

from __future__ import annotations

from typing import Any

from torchlore.watch.pictures import Alarm, Event, Step

ROWS = ()
SOURCES = ("https://discuss.pytorch.org/t/loss-not-decreasing-optimizer-has-wrong-parameters/84911",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["last"] == bad["first"]
    assert good["last"] < good["first"]


def _idle_group(step: Step) -> Alarm | None:
    """One group of several whose parameters are free and have had no gradient in any of many steps."""
    alive = step.memory.setdefault("alive", set())
    alive.update(one.group for one in step.parameters if one.grad is not None)
    free = {one.group for one in step.parameters} - {
        one.group for one in step.parameters if not one.tensor.requires_grad
    }
    step.memory["looked"] = step.memory.get("looked", 0) + 1
    idle = sorted(free - alive)
    if step.memory["looked"] != 12 or not idle or not alive:
        return None
    names = [one.name for one in step.parameters if one.group == idle[0]]
    told = f"group {idle[0]} of this {step.record.kind} ({', '.join(names[:2])}) has had no gradient in 12 steps: the loss does not depend on it, or it runs under no_grad"
    return Alarm(
        told, at=step.record.place, certain=False, because=("gradient-cut-on-the-way", "module-in-no-optimizer")
    )


def watch(step: Step) -> Alarm | None:
    count = len(step.parameters)
    empty = count > 0 and all(one.grad is None for one in step.parameters) and bool(step.of("backward"))
    if not step.in_a_row(3, empty):
        return None if empty else _idle_group(step)
    names, reached = step.run.parameter_names(), step.reached or []
    others = [names[id(p)] for p in reached if id(p) in names]
    told = f"none of the {count} parameters of this {step.record.kind} has a gradient, so step() changes nothing"
    depends = f"the loss depends on {', '.join(others[:3])}" if others else "the loss depends on no parameter at all"
    at, blind = step.record.place, _without_gradients(step)
    if blind is not None:
        at = blind.place
        told += f"; {depends}: `{blind.facts['record'].kind}` ran without gradients here"
    elif others:
        told += f"; {depends}: build the optimizer from the model in use"
    else:
        told += f"; {depends}: the graph is cut between the model and backward()"
    because = (
        "loss-rewrapped",
        "optimizer-before-model-change",
        "optimizer-holds-copies",
        "requires-grad-on-module",
        "step-before-backward",
        "gradient-cut-on-the-way",
        "zero-grad-between-backward-and-step",
    )
    return Alarm(told, at=at, evidence=f"{count} of {count} gradients are None for 3 steps", because=because)


def _without_gradients(step: Step) -> Event | None:
    """The last forward of a module with one of these parameters, where all of them ran under no_grad."""
    mine = {id(one.tensor) for one in step.parameters}
    calls = [(one, one.facts["record"].module) for one in step.of("forward")]
    own = [one for one, module in calls if module is not None and any(id(p) in mine for p in module.parameters())]
    return own[-1] if own and not any(one.facts["grad_enabled"] for one in own) else None
