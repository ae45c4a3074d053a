"""The training loop as a generator: it moves the weights; logging, saving and stopping are the caller's `for` body."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from torchlore.recipes.optim import EMA, clip_norm
from torchlore.train.batches import Batch
from torchlore.train.graph import Replay


@dataclass(frozen=True)
class Parts:
    """What moves when a model is trained."""

    model: nn.Module
    optimizer: Optimizer
    loss: Callable[[nn.Module, Batch], Tensor]  # the mean over the samples of this process's share
    rate: Callable[[int], float]  # sets the learning rates of a step and returns the first
    accumulate: int = 1
    clip: float = 0.0
    precision: torch.dtype | None = None  # of autocast
    scaler: torch.amp.GradScaler | None = None
    ema: EMA | None = None
    sharded: bool = False  # by FSDP2
    replay: int = 0  # steps after which the step is captured and replayed as a CUDA graph; 0: never


@dataclass(frozen=True)
class Stepped:
    """What one step did. Reading `loss` with .item() waits for the device; keep it a tensor until it is shown."""

    step: int  # counted over all epochs, from 0
    epoch: int
    samples: int  # of the global batch
    loss: Tensor
    rate: float
    norm: Tensor | None


def steps(
    parts: Parts, stream: Iterable[Batch], device: torch.device, first: int, settle: Callable[[], object] | None = None
) -> Iterator[Stepped]:
    """Train on each batch and yield after each step. The caller may evaluate in between: train mode is set again.

    `settle` is called before the step is captured as a graph: from then on nobody can look inside it.
    """
    made = Replay(_gradients, _update, settle, parts.replay) if parts.replay else _step
    for step, batch in enumerate(stream, first):
        if not parts.model.training:
            parts.model.train()
        rate = parts.rate(step)
        loss, norm = made(parts, batch, device)
        yield Stepped(step, batch.epoch, batch.total, loss, rate, norm)


def _step(parts: Parts, batch: Batch, device: torch.device) -> tuple[Tensor, Tensor | None]:
    return _gradients(parts, batch, device), _update(parts)


def _gradients(parts: Parts, batch: Batch, device: torch.device) -> Tensor:
    """Add up the gradients of the micro batches, each weighted by its share, so that a ragged one is exact."""
    pieces = _micro(batch, parts.accumulate)
    total: Tensor | None = None
    for number, micro in enumerate(pieces, 1):
        with _synchronised(parts, number == len(pieces)), _autocast(parts, device):
            loss = parts.loss(parts.model, micro)
            weighted = loss if micro.share == 1 else loss * micro.share
            (weighted if parts.scaler is None else parts.scaler.scale(weighted)).backward()
        total = weighted.detach() if total is None else total + weighted.detach()
    assert total is not None
    return total


def _micro(batch: Batch, count: int) -> list[Batch]:
    if count == 1:
        return [batch]
    size = -(-len(batch.labels) // count)
    pieces = zip(batch.pictures.split(size), batch.labels.split(size), batch.indices.split(size), strict=True)
    share = batch.share / len(batch.labels)
    return [replace(batch, pictures=p, labels=y, indices=i, share=share * len(y)) for p, y, i in pieces]


def _synchronised(parts: Parts, now: bool) -> Any:
    """Several processes exchange gradients once a step, with the last micro batch."""
    model: Any = parts.model
    if parts.sharded:
        model.set_requires_gradient_sync(now)
        return nullcontext()
    return model.no_sync() if isinstance(model, nn.parallel.DistributedDataParallel) and not now else nullcontext()


def _autocast(parts: Parts, device: torch.device) -> Any:
    return nullcontext() if parts.precision is None else torch.autocast(device.type, parts.precision)


def _update(parts: Parts) -> Tensor | None:
    norm = None
    if parts.clip > 0:
        if parts.scaler is not None:
            parts.scaler.unscale_(parts.optimizer)
        norm = clip_norm(parts.model, parts.clip)
    if parts.scaler is None:
        parts.optimizer.step()
    else:
        parts.scaler.step(parts.optimizer)
        parts.scaler.update()
    parts.optimizer.zero_grad(set_to_none=True)
    if parts.ema is not None:
        parts.ema.update(parts.model)
    return norm
