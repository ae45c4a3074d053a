"""Devices: pick one, move whatever a loader yields, and look inside what wraps a model."""

from __future__ import annotations

import copy
import dataclasses
import sys
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence

from torchlore.recipes import _wants

if TYPE_CHECKING:
    from collections.abc import Callable

LEAVES = (torch.Tensor, PackedSequence)
Device = str | int | torch.device


def best_device() -> torch.device:
    """Give the accelerator that works on this machine, or the CPU.

    Returns:
        A device such as `cuda` or `cpu`; a CUDA build of torch without a driver gives `cpu`.

    >>> best_device().type in {"cpu", "cuda", "mps", "xpu"}
    True
    """
    return torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")


def move(batch: Any, device: Device, non_blocking: bool = True) -> Any:
    """Move every tensor of a nested batch to a device.

    Goes through dicts, lists, tuples, named tuples, dataclasses and packed sequences of any depth and keeps their
    types; what holds no tensor is passed on as it is. A tensor that occurs twice is moved once and stays shared. A
    copy *to* the CPU always waits: a non-blocking one would hand out memory that is not filled yet.

    Args:
        batch: What the loader gave.
        device: Where it should go.
        non_blocking: Do not wait for the copy from pinned memory to an accelerator.

    Returns:
        A batch of the same structure; the given one is not changed.

    >>> move({"x": torch.ones(2), "ids": ["a", "b"]}, "meta")["x"].device.type
    'meta'
    """
    target = torch.device(device)
    waits = not non_blocking or target.type == "cpu"
    seen: dict[int, Any] = {}

    def send(leaf: Any) -> Any:
        there = seen.get(id(leaf))
        if there is None:  # PackedSequence keeps batch_sizes on the CPU by itself
            there = seen[id(leaf)] = leaf.to(target) if waits else leaf.to(target, non_blocking=True)
        return there

    return map_tensors(batch, send)


def map_tensors(value: Any, function: Callable[[Any], Any]) -> Any:
    """Apply a function to every tensor and packed sequence of a nested value, keeping its structure and types.

    Args:
        value: Dicts, lists, tuples, named tuples and dataclasses of any depth, or a tensor.
        function: Takes a tensor or a `PackedSequence`.

    Returns:
        The same structure with the results; whatever holds no tensor is passed on.

    >>> map_tensors([torch.ones(2), "name"], torch.Tensor.tolist)
    [[1.0, 1.0], 'name']
    """
    if not callable(function):
        _wants.function("map_tensors", function=function)
    if isinstance(value, LEAVES):
        return function(value)
    kind = type(value)
    if kind is list:
        return [map_tensors(one, function) for one in value]
    if isinstance(value, dict):
        moved = {key: map_tensors(one, function) for key, one in value.items()}
        return moved if kind is dict else _refill(value, moved)
    if isinstance(value, (list, tuple)):  # list | tuple would be built anew for each
        parts = [map_tensors(one, function) for one in value]
        return kind(*parts) if kind is not tuple and "_fields" in dir(kind) else kind(parts)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        twin = copy.copy(value)
        for field in dataclasses.fields(value):
            # works for frozen ones and for fields outside __init__
            object.__setattr__(twin, field.name, map_tensors(getattr(value, field.name), function))
        return twin
    return value


def _refill(value: dict[Any, Any], moved: dict[Any, Any]) -> dict[Any, Any]:
    twin = copy.copy(value)  # keeps the default factory of a defaultdict and the attributes of a subclass
    twin.update(moved)
    return twin


def _wrappers() -> tuple[type[nn.Module], ...]:
    found: list[type[nn.Module]] = [nn.DataParallel]
    if torch.distributed.is_available():
        found.append(nn.parallel.DistributedDataParallel)
    # An object of these classes exists only after their module was imported, and importing it takes seconds.
    if "torch.distributed.fsdp" in sys.modules:
        found.append(sys.modules["torch.distributed.fsdp"].FullyShardedDataParallel)
    return tuple(found)


def unwrap(model: nn.Module) -> nn.Module:
    """Give the user's own module inside DataParallel, DDP, FSDP and `torch.compile`, in any order and depth.

    `fully_shard` (FSDP2) wraps nothing, so its model comes back as it is.

    Args:
        model: A module, wrapped or not.

    Returns:
        The innermost module, the same object that was wrapped.

    >>> inner = nn.Linear(2, 2)
    >>> unwrap(nn.DataParallel(inner)) is inner
    True
    """
    _wants.kind("", nn.Module, "an nn.Module", model=model)
    dynamo = sys.modules.get("torch._dynamo.eval_frame")
    while True:
        if dynamo is not None and isinstance(model, dynamo.OptimizedModule):
            model = model._orig_mod  # noqa: SLF001 - the only name under which a compiled model keeps the original
        elif isinstance(model, _wrappers()):
            model = cast("nn.Module", model.module)
        else:
            return model
