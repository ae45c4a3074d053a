"""FSDP2: each process keeps a part of every weight. Checkpoints hold whole tensors, as those of one process do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor
from torch.optim import Optimizer

from torchlore.recipes.device import map_tensors
from torchlore.train.group import World


def shard(model: nn.Module, device: torch.device, place: World) -> None:
    """Split the weights of each block, and those outside of any, over all processes, in place."""
    mesh = init_device_mesh(device.type, (place.size,))
    for block in _blocks(model):
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)


def _blocks(model: nn.Module) -> Iterator[nn.Module]:
    for child in model.children():
        if isinstance(child, nn.ModuleList | nn.ModuleDict):  # nobody calls them, so nobody would gather them
            yield from _blocks(child)
        elif any(True for _ in child.parameters()):
            yield child


def gathered(state: Any) -> Any:
    """A state with whole tensors on the CPU in place of the parts; every process has to ask for it."""
    return map_tensors(state, lambda one: one.full_tensor().cpu() if isinstance(one, DTensor) else one)


def parted(state: dict[str, Any], model: nn.Module, optimizer: Optimizer) -> dict[str, Any]:
    """A checkpoint with parts in place of whole tensors, for the model and the optimizer."""
    named = {name: value for group in optimizer.param_groups for name, value in _named(group)}
    buffers = dict(state["optimizer"]["state"])
    for group in state["optimizer"]["param_groups"]:
        for name, key in zip(group["param_names"], group["params"], strict=True):
            if key in buffers and name in named:
                buffers[key] = {what: _like(value, named[name]) for what, value in buffers[key].items()}
    weights = parted_weights(state["model"], model)
    return {**state, "model": weights, "optimizer": {**state["optimizer"], "state": buffers}}


def parted_weights(weights: dict[str, Any], model: nn.Module) -> dict[str, Any]:
    """Weights with parts in place of whole tensors."""
    own = model.state_dict()
    return {name: _like(value, own[name]) if name in own else value for name, value in weights.items()}


def _named(group: dict[str, Any]) -> Iterator[tuple[str, Tensor]]:
    return zip(group["param_names"], group["params"], strict=True)


def _like(value: Any, wanted: Any) -> Any:
    if not isinstance(wanted, DTensor) or not isinstance(value, Tensor) or value.shape != wanted.shape:
        return value
    return distribute_tensor(value.to(wanted.device), wanted.device_mesh, wanted.placements)


@contextmanager
def gathered_model(model: nn.Module) -> Iterator[None]:
    """Inside, every process has the whole model and may run it as often as it likes: evaluation counts are uneven."""
    parts = [one for one in model.modules() if isinstance(one, FSDPModule)]
    for one in parts:
        one.set_reshard_after_forward(reshard_after_forward=False, recurse=False)
        one.unshard()
    try:
        yield
    finally:
        for one in parts:
            one.reshard()
            one.set_reshard_after_forward(reshard_after_forward=True, recurse=False)
