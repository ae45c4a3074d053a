"""Metric learning and re-identification: an embedding in which pictures of one identity lie together.

The functions that `tasks.Task` names, in its order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional as F

from torchlore.recipes.losses import batch_hard_triplet_loss, l1_penalty
from torchlore.recipes.metrics import retrieval
from torchlore.train.batches import Batch
from torchlore.train.embed import ranking
from torchlore.train.embed.listing import open_data, other_data
from torchlore.train.embed.neck import build_model
from torchlore.train.embed.plan import PKPlan, pk_plan
from torchlore.train.embed.ranking import RANKS, Found
from torchlore.train.embed.views import Views
from torchlore.train.evaluate import predict
from torchlore.train.group import World, world
from torchlore.train.run import Run
from torchlore.train.samples import Data, Samples
from torchlore.train.tested import Tested

if TYPE_CHECKING:
    from torchlore.train.setup import Ready

__all__ = ["build_model", "evaluate", "figure", "loss", "open_data", "other_data", "plan", "scores", "tested"]

MARGIN = 0.3


def plan(run: Run, data: Data, place: World) -> PKPlan:
    """Some pictures of each of some identities in every batch."""
    return pk_plan(run, data.train.labels, place)


def loss(run: Run, prepare: Callable[[Tensor], Tensor], device: torch.device) -> Callable[[nn.Module, Batch], Tensor]:
    """Batch-hard triplets over the batches of all processes, cross-entropy over the identities, or their sum."""
    words, place = run.loss.split("+"), world()

    def of(model: nn.Module, batch: Batch) -> Tensor:
        labels = batch.labels.to(device, non_blocking=True)
        said = model(prepare(batch.pictures))
        features, logits = said if isinstance(said, tuple) else (said, said)
        value = torch.zeros((), device=device)
        if "triplet" in words:
            apart = batch_hard_triplet_loss(gathered(place, features), gathered(place, labels), MARGIN)
            value = value + apart + (place.size - 1) * (apart - apart.detach())  # DDP divides by the processes
        if "ce" in words:
            value = value + F.cross_entropy(logits, labels, label_smoothing=run.label_smoothing)
        return value + run.l1 * l1_penalty(model.parameters()) if run.l1 else value

    return of


def gathered(place: World, mine: Tensor) -> Tensor:
    """The rows of all processes, of which only this one's have a gradient: the others' get theirs where they were made."""
    if place.size == 1:
        return mine
    parts = [torch.empty_like(mine) for _ in range(place.size)]
    dist.all_gather(parts, mine.detach().contiguous())
    parts[place.rank] = mine
    return torch.cat(parts)


def evaluate(made: Ready, model: nn.Module, samples: Samples) -> Found:
    """The embedding of every picture, once each, and what a search with the queries finds in the gallery."""
    assert isinstance(samples, Views)
    size = max(64, made.run.batch_size)
    features = predict(model, samples, made.prepare, size, made.world, made.workers).logits
    device = made.device if made.device.type == "cuda" else features.device
    asks, rest = samples.query, ~samples.query
    near, labels, cameras = (one.to(device) for one in (features, samples.labels, samples.cameras))
    both = (cameras[asks], cameras[rest]) if samples.lenses else None
    found = retrieval(near[asks], near[rest], labels[asks], labels[rest], cameras=both, max_rank=max(RANKS))
    return Found(features, found._replace(precision=found.precision.cpu(), first=found.first.cpu()))


def scores(found: Found) -> dict[str, float]:
    """The figures that are logged at each evaluation."""
    return {"mAP": float(found.retrieval.mean_average_precision), "rank1": float(found.retrieval.cmc[0])}


def figure(found: dict[str, float]) -> float:
    """What best.pt is best in: mAP."""
    return found["mAP"]


def tested(made: Ready, samples: Samples, found: Found) -> Tested:
    """mAP, the match curve, the figures of each camera and query, and ranked sheets."""
    assert isinstance(samples, Views)
    return ranking.tested(made.data.classes, samples, found)
