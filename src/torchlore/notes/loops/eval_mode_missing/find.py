"""The rule of eval-mode-missing."""

import ast
import re
from collections.abc import Iterator
from functools import partial

from torchlore.check import classes, flow, frameworks, modes, modules, project
from torchlore.check.events import Event
from torchlore.check.source import Hit, Source

_EVALUATES = re.compile(
    r"(?:^|_)(?:val|valid|validate|validation|test|eval|evaluate|predict|infer|inference)(?:_|$)", re.IGNORECASE
)
_ON_PURPOSE = re.compile(
    r"mc_?drop|monte|uncertain|bayes|pseudo|self_label|bn_?(?:update|stats)|update_?bn|calibrat|recal|"
    r"(?:^|_)(?:act|acts|action|actions|explore|rollout|collect|play)(?:_|$)",
    re.IGNORECASE,
)


def find(source: Source) -> Iterator[Hit]:
    seen: set[object] = set()
    for event in _evaluations(source):
        there = event.source is not source and any(one.node is event.node for one in _evaluations(event.source))
        place = event.node if event.source is source else event.at
        if place not in seen and not there and not frameworks.owned(source, place):
            seen.add(place)
            name = event.source.code(event.expr) if event.expr is not None else "model"
            message = f"`{name}` is evaluated in training mode, its dropout or batch norm still trains: call `{name}.eval()` first"
            yield source.hit(place, message, severity="warning")  # the author may want the noise


def _evaluations(source: Source) -> Iterator[Event]:
    """What a file evaluates in training mode, also through functions of other files."""
    if not flow.may_train(source):
        return
    turns = [(*loop.events, *loop.events) for loop in flow.backward_loops(source)]
    for events in [*(events for _, events in flow.training_entries(source)), *turns]:
        yield from modes.read_in_train_mode(events, partial(_only_reads, events))


def _only_reads(events: tuple[Event, ...], event: Event) -> bool:
    names = [function.node.name for function in event.via]
    if any(_ON_PURPOSE.search(name) for name in [*names, event.source.path]) or modes.from_noise(event):
        return False
    if _gives_losses(event):
        return False
    named = bool(event.via) and bool(_EVALUATES.search(names[-1])) and not _trains(event)
    step = modes.prepares(events, event) and not _now_and_then(event)
    return (event.no_grad or named) and _has_modes(event) and not step and not _part_of_loss(events, event)


def _part_of_loss(events: tuple[Event, ...], event: Event) -> bool:
    """A function that computes a loss with the model, and a target for it without gradients: both in one mode."""
    same = (one for one in events if one.what == "forward" and one.owner == event.owner and one.via == event.via)
    with_graph = any(not one.no_grad and one.loops == event.loops for one in same)
    return bool(event.via) and event.no_grad and with_graph and not _trains(event)


def _gives_losses(event: Event) -> bool:
    """`loss_dict = model(images, targets)`: a detector gives its losses in training mode only."""
    held = event.source.parents.get(event.node)
    name = held.targets[0] if isinstance(held, ast.Assign) else None
    several = isinstance(name, ast.Name) and f"{name.id}.values()" in event.source.text
    return several and isinstance(event.node, ast.Call) and len(event.node.args) > 1


def _now_and_then(event: Event) -> bool:
    """`if step % 100 == 0: estimate_loss(model)`: no part of a step is left out of most of them."""
    parts = (part for test, _ in event.conditions for part in ast.walk(test))
    return bool(event.via) and any(isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod) for part in parts)


def _trains(event: Event) -> bool:
    own = flow.events_of(event.via[-1].source, event.via[-1].node)
    return any(one.what == "backward" for one in own)


def _has_modes(event: Event) -> bool:
    """Whether the model is surely one for which the mode matters, and not a part of a module that calls its own layers."""
    if event.expr is None:
        return False
    owner = project.enclosing_class(event.source, event.node)
    if owner is not None and classes.is_module(owner):
        return False
    found = event.source.values(event.expr)
    return bool(found) and all(modules.mode_layers(event.source, value) is True for value in found)
