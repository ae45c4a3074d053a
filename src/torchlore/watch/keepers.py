"""Which variable of the user's keeps graphs alive."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator
from types import FrameType
from typing import Any

from torch import Tensor

from torchlore.watch.pictures import Keeper
from torchlore.watch.places import Map, Place


def keeper(places: Map) -> Keeper | None:
    """The first variable, list, dict or attribute in the user's frames that holds tensors with a graph."""
    frame, found = places.frame(2), list[tuple[str, FrameType]]()
    while frame is not None and not found:
        if places.is_user(frame.f_code):
            found = [(name, frame) for name in _holders(frame)]
        frame = frame.f_back
    return Keeper(found[0][0], _filled_at(*found[0])) if found else None


def _holders(frame: FrameType) -> Iterator[str]:
    for name, value in {**frame.f_globals, **frame.f_locals}.items():
        if name.startswith("__"):
            continue
        if _holds(value):
            yield name
        elif (
            hasattr(value, "__dict__") and not isinstance(value, type | Tensor) and type(value).__module__ != "builtins"
        ):
            yield from (f"{name}.{inner}" for inner, one in list(vars(value).items()) if _holds(one))


def _holds(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.grad_fn is not None and value.grad_fn.name().startswith(
            ("AddBackward", "StackBackward", "CatBackward")
        )
    if isinstance(value, dict):
        return any(_holds(one) for one in list(value.values())[:50])
    if isinstance(value, list | tuple) or type(value).__name__ == "deque":
        return len(value) > 8 and isinstance(value[-2], Tensor) and value[-2].grad_fn is not None
    return False


def _filled_at(name: str, frame: FrameType) -> Place | None:
    """The line that fills it: `name +=`, `name = name +` or `name.append(` in the same file."""
    last = re.escape(name.rpartition(".")[2])
    pattern = re.compile(
        rf"\b{last}\s*(\[[^\]]*\]\s*)?(\+=|=\s*[\w.]*\b{last}\s*\+|\.(append|extend|add|appendleft)\()"
    )
    path = frame.f_code.co_filename
    for number, line in enumerate(linecache.getlines(path), 1):
        if pattern.search(line):
            return Place(path, number)
    return None
