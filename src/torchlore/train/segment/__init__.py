"""Segmentation: a class for each pixel. The functions that `tasks.Task` names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from torchlore.recipes import metrics
from torchlore.recipes.losses import l1_penalty, multiclass_dice_loss, multiclass_iou_loss
from torchlore.train.batches import Batch, Plan, whole
from torchlore.train.evaluate import evaluating
from torchlore.train.group import World, everyone
from torchlore.train.run import Run
from torchlore.train.samples import Data, Samples
from torchlore.train.segment import showing
from torchlore.train.segment.folders import open_data, other_data
from torchlore.train.segment.pairs import IGNORE, Pairs
from torchlore.train.segment.showing import Found, Shown, worst
from torchlore.train.segment.slide import slide
from torchlore.train.segment.unet import build_model
from torchlore.train.tested import Tested

if TYPE_CHECKING:
    from torchlore.train.setup import Ready

__all__ = ["build_model", "evaluate", "figure", "loss", "open_data", "other_data", "plan", "scores", "tested"]

AUX = 0.5  # weight of a network's auxiliary output
OVERLAPS = {"dice": multiclass_dice_loss, "iou": multiclass_iou_loss}


def plan(run: Run, data: Data, place: World) -> Plan:
    """Every picture once an epoch, in a random order; the numbers drawn for each place its window."""
    del data
    return Plan(run.batch_size, run.seed, augment=True, rank=place.rank, world=place.size)


def loss(run: Run, prepare: Callable[[Tensor], Tensor], device: torch.device) -> Callable[[nn.Module, Batch], Tensor]:
    """The sum of the losses that the run names; every picture weighs the same, so that any split of a batch is exact."""
    words = run.loss.split("+")

    def total(logits: Tensor, masks: Tensor) -> Tensor:
        return torch.stack([each(word, logits, masks, run.label_smoothing).mean() for word in words]).sum()

    def of(model: nn.Module, batch: Batch) -> Tensor:
        masks = batch.labels.to(device, non_blocking=True).long()
        said = model(prepare(batch.pictures))
        value = total(said if isinstance(said, Tensor) else said["out"], masks)
        if not isinstance(said, Tensor) and "aux" in said:
            value = value + AUX * total(said["aux"], masks)
        return value + run.l1 * l1_penalty(model.parameters()) if run.l1 else value

    return of


def each(word: str, logits: Tensor, masks: Tensor, smoothing: float = 0.0) -> Tensor:
    """The loss of each picture (B,): the mean over its pixels, or over the classes in it; 0 where nothing counts.

    >>> each("ce", torch.zeros(1, 4, 2, 2), torch.tensor([[[0, 1], [255, 255]]])).exp().round().tolist()
    [4.0]
    """
    counts = masks != IGNORE
    if word == "ce":
        pixels = F.cross_entropy(logits, masks, ignore_index=IGNORE, label_smoothing=smoothing, reduction="none")
        return pixels.flatten(1).sum(1) / counts.flatten(1).sum(1).clamp(min=1)
    rows = OVERLAPS[word](logits, masks, ignore_index=IGNORE, reduction="none")  # (B, C), 0 for a class not there
    classes = torch.where(counts, masks, logits.shape[1]).flatten(1)
    there = rows.new_zeros(len(rows), logits.shape[1] + 1).scatter_(1, classes, 1.0)[:, :-1]
    return rows.sum(1) / there.sum(1).clamp(min=1)


def evaluate(made: Ready, model: nn.Module, samples: Samples) -> Found:
    """Every picture whole, by windows, into one confusion matrix over all processes."""
    assert isinstance(samples, Pairs)
    place, classes = made.world, len(made.data.classes)
    matrix = torch.zeros(classes, classes, dtype=torch.int64)
    total, count = 0.0, 0
    kept: tuple[Shown, ...] = ()
    with evaluating(model):
        for batch in whole(samples, 1, place.rank, place.size, made.workers):
            logits = slide(model, made.prepare(batch.pictures), samples.size)
            masks = batch.labels.to(logits.device).long()
            said = logits.argmax(1)
            own = metrics.confusion_matrix(said, masks, classes, ignore_index=IGNORE).cpu()
            matrix += own
            total += sum(float(each(word, logits.float(), masks)) for word in made.run.loss.split("+"))
            count += 1
            if int(own.sum()):
                one = Shown(float(metrics.iou(own, "macro")), int(batch.indices), said[0].to("cpu", torch.uint8))
                kept = worst((*kept, one))
    parts = everyone(place, (matrix, total, count, kept))
    samples_seen = sum(part[2] for part in parts)
    return Found(
        torch.stack([part[0] for part in parts]).sum(0),
        sum(part[1] for part in parts) / max(1, samples_seen),
        samples_seen,
        worst([one for part in parts for one in part[3]]),
    )


def scores(found: Found) -> dict[str, float]:
    """The figures that are logged at each evaluation."""
    figures = showing.summary(found)
    return {name: figures[name] for name in ("miou", "pixel_accuracy", "loss")}


def figure(scores: dict[str, float]) -> float:
    """What best.pt is best in: mIoU, and among equal ones the smaller loss."""
    return scores["miou"] + 1e-9 / (1 + scores["loss"])


def tested(made: Ready, samples: Samples, found: Found) -> Tested:
    """Figures, the table of classes, and the worst pictures with truth and prediction over them."""
    return showing.tested(made.data.classes, samples, found)
