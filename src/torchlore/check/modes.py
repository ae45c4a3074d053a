"""Train and eval mode along a program: which models a training loop left in training mode when they are only read."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from torchlore.check.flow import exclusive
from torchlore.check.pattern import regex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torchlore.check.events import Event
    from torchlore.check.identity import Identity
    from torchlore.check.project import Function


_EVALUATES = regex(r"val|test|eval|predict|infer", re.IGNORECASE)


def read_in_train_mode(events: tuple[Event, ...], reads: Callable[[Event], bool]) -> Iterator[Event]:
    """Forward passes that only read, of a model that was trained before and not switched to eval since; once a model."""
    trained: set[Identity] = set()
    switched: set[Identity] = set()
    forwards: list[Identity] = []
    reported: set[Identity] = set()
    again: set[Identity] = set()  # put into training mode after the training was over: to refresh batch norm
    idle: set[Identity] = set()  # switched to eval mode and not called since: whoever trains it now undoes that
    evaluated: set[tuple[Function, ...]] = set()  # functions that switched to eval mode: their `train()` puts it back
    for event in events:
        if event.what in ("train", "eval"):
            if event.owner is None or event.detail:
                return  # somebody switches something we cannot name
            related = {model for model in {*trained, *switched, event.owner} if _related(model, event.owner)}
            meant = (
                event.what == "train"
                and not forwards
                and not (event.via and (_EVALUATES.search(event.via[-1].node.name) or event.via in evaluated))
                and not related & idle
            )
            again = again | related if meant else again - related
            evaluated |= {event.via} if event.what == "eval" else set()
            idle = idle | related if event.what == "eval" else idle - related
            switched = switched | related if event.what == "eval" else switched - related
        elif event.what == "backward":
            trained.update(forwards)
            forwards = []
        elif event.what == "forward" and event.owner is not None:
            idle.discard(event.owner)
            if not event.no_grad:
                forwards.append(event.owner)
                again.discard(event.owner)
            if event.owner in trained - again and event.owner not in switched | reported and reads(event):
                reported.add(event.owner)
                yield event


def prepares(events: tuple[Event, ...], event: Event) -> bool:
    """Whether a pass without gradients comes before the only backward passes of its turn: it is a part of the step."""
    loop = event.loops[-1] if event.loops else None
    place = events.index(event)
    passes = [(i, one) for i, one in enumerate(events) if one.what == "backward" and loop in one.loops]
    before = any(i < place and not exclusive(one, event) for i, one in passes)
    return not before and any(i > place for i, _ in passes)


def _related(model: Identity, owner: Identity) -> bool:
    short = min(len(model), len(owner))
    return model[:short] == owner[:short]


def from_noise(event: Event) -> bool:
    """Pictures that a generator makes of noise to look at: GANs often sample in training mode on purpose."""
    given = event.node.args[0] if isinstance(event.node, ast.Call) and event.node.args else None
    return given is not None and bool(
        re.search(r"noise|latent|\bz\b|randn|\bz_", event.source.code(given), re.IGNORECASE)
    )
