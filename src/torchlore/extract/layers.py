"""One tensor a layer and picture: what a layer gave, checked, and pooled where that is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from torchlore.recipes.device import map_tensors
from torchlore.recipes.features import extract
from torchlore.train.run import Refused


def layer_features(model: nn.Module, layers: Sequence[str], batch: Tensor, *, pool: bool = False) -> dict[str, Tensor]:
    """The output of each layer, its first size that of the batch; with `pool` the mean over all places, (B, C).

    >>> net = nn.Sequential(nn.Conv2d(3, 4, 1), nn.ReLU(inplace=True))
    >>> {name: tuple(one.shape) for name, one in layer_features(net, ["0", "1"], torch.ones(2, 3, 5, 5)).items()}
    {'0': (2, 4, 5, 5), '1': (2, 4, 5, 5)}
    """
    found = {name: _single(name, one, len(batch)) for name, one in extract(model, layers, batch).items()}
    if not pool:
        return found
    return {name: pooled(one, model.get_submodule(name.partition(":")[0])) for name, one in found.items()}


def _single(name: str, output: Any, count: int) -> Tensor:
    tensors: list[Tensor] = []
    map_tensors(output, lambda one: tensors.append(one if isinstance(one, Tensor) else one.data))
    if len(tensors) != 1:
        raise Refused(f"the layer {name!r} gives {len(tensors)} tensors, not one: name a layer inside it")
    if tensors[0].ndim == 0 or tensors[0].shape[0] != count:
        shape = tuple(tensors[0].shape)
        raise Refused(f"the layer {name!r} gives shape {shape} for {count} pictures: its first size must be {count}")
    return tensors[0]


def pooled(output: Tensor, module: nn.Module | None = None) -> Tensor:
    """The mean over all places. Channels are the second size, or the last one of (B, S, C) and of (B, H, W, C).

    Pictures are square here, so of four sizes the two that are alike are height and width.

    >>> pooled(torch.ones(2, 4, 5, 5)).shape, pooled(torch.ones(2, 5, 5, 4)).shape, pooled(torch.ones(2, 9, 4)).shape
    (torch.Size([2, 4]), torch.Size([2, 4]), torch.Size([2, 4]))
    """
    if output.ndim <= 2:
        return output
    last = output.ndim == 3 or isinstance(module, nn.Linear | nn.LayerNorm)
    if output.ndim == 4 and not last:
        last = output.shape[1] == output.shape[2] != output.shape[3]
    places = range(1, output.ndim - 1) if last else range(2, output.ndim)
    return output.float().mean(dim=tuple(places))


def shapes(model: nn.Module, layers: Sequence[str], like: Tensor, *, pool: bool) -> dict[str, tuple[int, ...]]:
    """The shape of one picture's feature, found by running two empty pictures: trouble shows before any file is read."""
    try:
        found = layer_features(model, layers, like, pool=pool)
    except Refused:
        raise
    except (ValueError, RuntimeError, TypeError, IndexError, AssertionError) as error:
        where = "x".join(map(str, like.shape[1:]))
        reason = " ".join(str(error).split())
        raise Refused(reason if "layer" in reason else f"the model cannot run on {where} pictures: {reason}") from None
    return {name: tuple(one.shape[1:]) for name, one in found.items()}


def stored(features: dict[str, Tensor], dtype: torch.dtype) -> dict[str, Tensor]:
    """The features as they are written."""
    return {name: one.detach().to("cpu", dtype).contiguous() for name, one in features.items()}
