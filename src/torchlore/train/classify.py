"""Classification: the loss of a batch and the score of a split."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from torchlore.recipes.augment import cutmix, mixup, region_confusion
from torchlore.recipes.losses import l1_penalty, mixed_loss
from torchlore.recipes.seed import derive
from torchlore.train.batches import Batch
from torchlore.train.evaluate import Predicted
from torchlore.train.run import Run


def loss(run: Run, prepare: Callable[[Tensor], Tensor], device: torch.device) -> Callable[[nn.Module, Batch], Tensor]:
    """The function that gives the mean loss of a batch under this run's recipe."""

    def of(model: nn.Module, batch: Batch) -> Tensor:
        pictures, labels = prepare(batch.pictures), batch.labels.to(device, non_blocking=True)
        if run.confusion or run.mixup or run.cutmix:
            value = _mixed(run, model, pictures, labels, batch)
        else:
            value = F.cross_entropy(model(pictures), labels, label_smoothing=run.label_smoothing)
        return value + run.l1 * l1_penalty(model.parameters()) if run.l1 else value

    return of


def _mixed(run: Run, model: nn.Module, pictures: Tensor, labels: Tensor, batch: Batch) -> Tensor:
    generator = torch.Generator().manual_seed(derive(run.seed, "mix", batch.epoch, batch.number, int(batch.indices[0])))
    if run.confusion:
        pictures = region_confusion(pictures, run.confusion, generator=generator)
    if not (run.mixup or run.cutmix):
        return F.cross_entropy(model(pictures), labels, label_smoothing=run.label_smoothing)
    mix, alpha = (mixup, run.mixup) if run.mixup else (cutmix, run.cutmix)
    mixed = mix(pictures, labels, alpha, generator=generator)
    return mixed_loss(model(mixed.images), mixed.first, mixed.second, mixed.share, epsilon=run.label_smoothing)


def scores(predicted: Predicted) -> dict[str, float]:
    """The figures of a split that are logged at each evaluation."""
    return {"accuracy": predicted.accuracy, "loss": predicted.loss}


def figure(found: dict[str, float]) -> float:
    """What best.pt is best in: accuracy, and among equal ones, of which a small split has many, the smaller loss.

    >>> figure({"accuracy": 1.0, "loss": 0.1}) > figure({"accuracy": 1.0, "loss": 0.2})
    True
    """
    return found["accuracy"] + 1e-9 / (1 + found["loss"])
