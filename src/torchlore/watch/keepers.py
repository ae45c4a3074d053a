"""Which variable of the user's keeps graphs alive."""

from __future__ import annotations

import linecache
import re
import weakref
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterator
from itertools import islice
from types import CodeType, FrameType, ModuleType
from typing import Any

from torch import Tensor

from torchlore.watch.pictures import Keeper
from torchlore.watch.places import Map, Place

_KEPT = "torchlore.kept"
_MOST = 12_000  # nodes and objects that are counted
_BOXES = (
    list,
    tuple,
    dict,
    deque,
    defaultdict,
    OrderedDict,
)  # a class of the user's own may do anything when it is walked


def keeper(places: Map) -> Keeper | None:
    """The first variable, list, dict or attribute in the user's frames that holds tensors with a graph."""
    frame = places.frame(2)
    while frame is not None:
        found = next(_holders(frame), None) if places.is_user(frame.f_code) else None
        if found is not None:
            name, held = found
            return Keeper(name, _filled_at(name, frame), held.numel() == 1)
        frame = frame.f_back
    return None


class _Mark:
    """Put on the node of a graph; it is gone when the graph is."""


Marks = dict[tuple[str, CodeType], list["weakref.ref[_Mark]"]]


def grown(places: Map, marks: Marks) -> dict[str, tuple[int, Place | None]]:
    """Containers in the user's variables and in their attributes -> how many nodes the graphs in them have, and who fills them.

    `marks` are those of the look before: a container whose graphs of then are all gone has begun anew and is left out.
    """
    frame, found = places.frame(2), dict[str, tuple[int, Place | None]]()
    seen, known = set[int](), set[Any]()
    while frame is not None:
        for name, value in _containers(frame) if places.is_user(frame.f_code) else ():
            if id(value) in seen or len(known) >= _MOST:
                continue
            seen.add(id(value))
            before, roots, key = len(known), list[Any](), (name, frame.f_code)
            _count(value, known, [_MOST], 3, roots)
            kept = key not in marks or any(one() is not None for one in marks[key])
            marks[key] = [weakref.ref(one.metadata.setdefault(_KEPT, _Mark())) for one in roots[:8]]
            if len(known) > before and kept:
                found[name] = len(known) - before, _filled_at(name, frame)
        frame = frame.f_back
    return found


def _containers(frame: FrameType) -> Iterator[tuple[str, Any]]:
    for name, value in {**frame.f_globals, **frame.f_locals}.items():
        if name.startswith("__"):
            continue
        if type(value) in _BOXES:
            yield name, value
        elif not isinstance(value, type | Tensor | ModuleType):
            held = [(inner, one) for inner, one in _attributes(value).items() if not inner.startswith("_")]
            yield from (
                (f"{name}.{inner}", one) for inner, one in held if isinstance(one, Tensor) or type(one) in _BOXES
            )


def _is_record(value: object) -> bool:
    """A named tuple: walked as any tuple is."""
    return isinstance(value, tuple) and type(value).__iter__ is tuple.__iter__


def _attributes(value: object) -> dict[str, Any]:
    """A copy of an object's own attributes, got past any `__getattr__` of its class."""
    try:
        return dict(object.__getattribute__(value, "__dict__"))
    except AttributeError:
        return {}


def _count(value: Any, known: set[Any], left: list[int], depth: int, roots: list[Any]) -> None:
    """Put the nodes of every graph in a container into `known`, `left` objects at most, and those they begin with into `roots`."""
    left[0] -= 1
    if isinstance(value, Tensor):
        roots += [] if value.grad_fn is None else [value.grad_fn]
        stack: list[Any] = [value.grad_fn]
        while stack and len(known) < _MOST:
            node = stack.pop()
            if node is not None and node not in known:
                known.add(node)
                stack += [before for before, _ in node.next_functions]
    elif depth and (type(value) in _BOXES or _is_record(value)):
        for one in list(islice(value.values() if isinstance(value, dict) else value, max(left[0], 0))):
            if left[0] > 0:
                _count(one, known, left, depth - 1, roots)


def _holders(frame: FrameType) -> Iterator[tuple[str, Tensor]]:
    """Names in the frame, of attributes as `self.meter.sums` too, with one of the tensors that they hold."""
    for name, value in {**frame.f_globals, **frame.f_locals}.items():
        if not name.startswith("__"):
            yield from _held_by(name, value, 2)


def _held_by(name: str, value: Any, depth: int) -> Iterator[tuple[str, Tensor]]:
    if (held := _held(value)) is not None:
        yield name, held
    elif depth and hasattr(value, "__dict__") and not isinstance(value, type | Tensor | ModuleType):
        inner = _attributes(value) if type(value).__module__ != "builtins" else {}
        for attribute, one in inner.items():
            yield from _held_by(f"{name}.{attribute}", one, depth - 1)


def _held(value: Any) -> Tensor | None:
    """A tensor with a graph that this is, or that is in it, and that is there from one step to the next."""
    if isinstance(value, Tensor):
        node = value.grad_fn
        summed = node is not None and node.name().startswith(("AddBackward", "StackBackward", "CatBackward"))
        return value if summed and not _is_loss(node) else None
    if isinstance(value, dict):
        return next((held for one in list(value.values())[:50] if (held := _held(one)) is not None), None)
    if isinstance(value, list | tuple) or type(value).__name__ == "deque":
        last = value[-2] if len(value) > 8 else None
        return last if isinstance(last, Tensor) and last.grad_fn is not None else None
    return None


def _is_loss(node: Any) -> bool:
    """A backward pass began here: it is the loss of one step, and no sum of many."""
    return "torchlore" in node.metadata


def _filled_at(name: str, frame: FrameType) -> Place | None:
    """The line that fills it: `name +=`, `name = name +` or `name.append(` in the same file."""
    last = re.escape(name.rpartition(".")[2])
    pattern = re.compile(
        rf"\b{last}\s*(\[[^\]]*\]\s*)?(\+=|=\s*[\w.]*\b{last}\s*\+|\.(append|extend|add|appendleft)\()|\b{last}\[[^\]]*\]\s*=[^=]"
    )
    path = frame.f_code.co_filename
    for number, line in enumerate(linecache.getlines(path), 1):
        if pattern.search(line):
            return Place(path, number)
    return None
