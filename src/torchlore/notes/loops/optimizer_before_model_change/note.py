"""An optimizer keeps the parameters it was given; a layer replaced later is never trained.

`optimizer = Adam(model.parameters())` stores tensors, not the model. Replace `model.fc` after that line and the new head is
trained by nobody, while the old one sits in the optimizer without a gradient. The loss may still fall, through the layers
below the head.

Finish the model, then build the optimizer; for a layer that comes later, call `optimizer.add_param_group`.
"""

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import flow, modules, tree
from torchlore.check.events import Event, of_call
from torchlore.check.identity import Identity, identity
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Step

ROWS = ()
SOURCES = ("https://github.com/microsoft/nni/issues/4521",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["moved"] == 0.0
    assert good["moved"] > 0.0


def find(source: Source) -> Iterator[Hit]:
    if any(source.methods("add_param_group")):
        return
    given = (call for call in source.methods("parameters", "named_parameters") if _to_optimizer(source, call))
    for function in dict.fromkeys(tree.function(source, call) for call in given):
        events = flow.events_of(source, function)
        for index, event in enumerate(events):
            if event.what == "optimizer" and event.source is source and not event.via:
                yield from _changed(source, event, events[index + 1 :])


def _to_optimizer(source: Source, node: ast.AST) -> bool:
    calls = (up for up in tree.ancestors(source, node) if isinstance(up, ast.Call))
    return any((event := of_call(source, call)) is not None and event.what == "optimizer" for call in calls)


def _changed(source: Source, built: Event, later: tuple[Event, ...]) -> Iterator[Hit]:
    again = [event for event in later if event.what == "optimizer"]
    for model in _models(source, built.node):
        if any(event.owner == built.owner or model in _models(event.source, event.node) for event in again):
            continue  # built anew
        for event in later:
            if event.what == "replace" and _part_of(event.owner, model) and not _empty(event):
                name = event.source.code(event.expr) if event.expr is not None else "the layer"
                message = f"`{name}` is replaced on line {_line(event)}, after this optimizer took the old parameters: build it after that"
                yield source.hit(built.node, message)
                break


def _models(source: Source, node: ast.AST) -> set[Identity]:
    """The models whose parameters an optimizer is given: whole models, not single layers of them."""
    given = [*node.args, *(keyword.value for keyword in node.keywords)] if isinstance(node, ast.Call) else []
    found: set[Identity] = set()
    for argument in given:
        for part in ast.walk(argument):
            if (
                isinstance(part, ast.Call)
                and isinstance(part.func, ast.Attribute)
                and part.func.attr in ("parameters", "named_parameters")
            ):
                known = identity(source, part.func.value)
                found |= {known} if known else set()
    return found


def _part_of(owner: Identity | None, model: Identity) -> bool:
    return owner is not None and len(owner) > len(model) and owner[: len(model)] == model


def _empty(event: Event) -> bool:
    """Whether what comes in has no parameters: cutting a head off is no new head."""
    value = event.node.value if isinstance(event.node, ast.Assign) else None
    return value is not None and all(modules.parameterless(one) for one in event.source.values(value))


def _line(event: Event) -> int:
    return getattr(event.node if not event.via else event.at, "lineno", 0)


def watch(step: Step) -> Alarm | None:
    if step.reached is None:
        return None
    names, held = step.run.parameter_names(), step.run.held()
    missed = [names[id(p)] for p in step.reached if id(p) in names and id(p) not in held]
    gone = [one.name for one in step.without_gradient if id(one.tensor) not in names]
    if not step.in_a_row(2, bool(missed and gone)):
        return None
    told = f"{', '.join(missed[:3])} get gradients but are in no optimizer, which holds tensors that the model no longer uses; build it after the model is complete"
    return Alarm(told, at=step.record.place, evidence=f"{len(missed)} parameters untrained, {len(gone)} left over")
