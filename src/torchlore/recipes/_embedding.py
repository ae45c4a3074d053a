"""Losses of metric learning: triplets, pairs, contrast, margins, centres. Users import them from `losses`."""

from __future__ import annotations

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from torchlore.recipes import _args
from torchlore.recipes.tensors import pairwise_cosine, pairwise_euclidean

Reduction = Literal["mean", "sum", "none"]
Distance = Literal["euclidean", "cosine"]


def _pairs(function: str, embeddings: Tensor, labels: Tensor, distance: str) -> tuple[Tensor, Tensor]:
    """Distances (N, N) of all pairs and whether each pair has one label."""
    _args.one_of(function, "distance", distance, ("euclidean", "cosine"))
    _check_embeddings(function, embeddings, labels)
    embeddings = _args.wide(embeddings)
    if distance == "euclidean":
        apart = pairwise_euclidean(embeddings, embeddings)
    else:
        apart = 1.0 - pairwise_cosine(embeddings, embeddings)
    return apart, labels[:, None] == labels[None, :]


def _check_embeddings(function: str, embeddings: Tensor, labels: Tensor) -> None:
    _args.floating(function, "embeddings", embeddings)
    if embeddings.ndim != 2 or labels.shape != embeddings.shape[:1]:
        raise ValueError(
            f"{function}: embeddings have shape {tuple(embeddings.shape)} and labels {tuple(labels.shape)}; they must "
            "be (N, D) and (N,)."
        )


def _check_centers(function: str, embeddings: Tensor, centers: Tensor) -> None:
    if centers.ndim != 2 or centers.shape[1] != embeddings.shape[1]:
        raise ValueError(
            f"{function}: centers have shape {tuple(centers.shape)} for embeddings of {embeddings.shape[1]} numbers; "
            f"they must be (C, {embeddings.shape[1]})."
        )


def _not_self(same: Tensor) -> Tensor:
    return ~torch.eye(same.shape[0], dtype=torch.bool, device=same.device)


def _hinge(gap: Tensor, margin: float | None) -> Tensor:
    return F.softplus(gap) if margin is None else F.relu(gap + margin)


def batch_hard_triplet_loss(
    embeddings: Tensor,
    labels: Tensor,
    margin: float | None = 0.3,
    *,
    distance: Distance = "euclidean",
    reduction: Reduction = "mean",
) -> Tensor:
    """Triplet loss with each anchor's farthest positive and nearest negative of the batch.

    `margin=None` is the soft margin log(1 + exp(d_ap - d_an)). An anchor without a positive or without a negative is
    left out; a batch without any triplet gives 0 with a gradient of 0. Draw batches with several images of each label.

    >>> points = torch.tensor([[0.0], [1.0], [1.5], [9.0]])
    >>> batch_hard_triplet_loss(points, torch.tensor([0, 0, 1, 1]), margin=0.5).item()
    2.125
    """
    _args.one_of("batch_hard_triplet_loss", "reduction", reduction, _args.REDUCTIONS)
    apart, same = _pairs("batch_hard_triplet_loss", embeddings, labels, distance)
    nearest = apart.masked_fill(same, torch.inf).amin(1)
    farthest = torch.where(same, apart, -torch.inf).amax(1)  # itself, at distance 0, where there is no other
    gap = torch.where(same.sum(1) > 1, farthest - nearest, -torch.inf)  # -inf costs 0: one of the two is missing
    return _args.reduced(_hinge(gap, margin), reduction, (gap > -torch.inf).sum())


def batch_all_triplet_loss(
    embeddings: Tensor,
    labels: Tensor,
    margin: float = 0.3,
    *,
    distance: Distance = "euclidean",
) -> Tensor:
    """Triplet loss over all triplets of the batch, averaged over those that still cost something.

    Memory grows with N³: 256 embeddings take 64 MB.

    >>> points = torch.tensor([[0.0], [1.0], [1.5], [9.0]])
    >>> batch_all_triplet_loss(points, torch.tensor([0, 0, 1, 1]), margin=0.5).item()
    5.0
    """
    apart, same = _pairs("batch_all_triplet_loss", embeddings, labels, distance)
    positive = same & _not_self(same)
    cost = F.relu(apart[:, :, None] - apart[:, None, :] + margin)
    valid = positive[:, :, None] & ~same[:, None, :]
    cost = torch.where(valid, cost, 0.0)
    return _args.reduced(cost, "mean", (cost > 0).sum())


def contrastive_loss(
    embeddings: Tensor,
    labels: Tensor,
    margin: float = 1.0,
    *,
    distance: Distance = "euclidean",
) -> Tensor:
    """Pairs of one label are pulled together (d²), pairs of two labels pushed beyond `margin` ((margin - d)²).

    Averaged over all pairs of different samples.

    >>> contrastive_loss(torch.tensor([[0.0], [0.5]]), torch.tensor([0, 1])).item()
    0.25
    """
    apart, same = _pairs("contrastive_loss", embeddings, labels, distance)
    cost = torch.where(same, apart * apart, F.relu(margin - apart).square())
    other = _not_self(same)
    return _args.reduced(cost * other, "mean", other.sum())


def supervised_contrastive_loss(embeddings: Tensor, labels: Tensor, temperature: float = 0.1) -> Tensor:
    """Each anchor against all others: log-softmax of cosine / temperature, averaged over its positives, then anchors.

    The embeddings are normalised here. An anchor without a positive is left out.

    >>> points = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> round(supervised_contrastive_loss(points, torch.tensor([0, 0, 1, 1]), 1.0).item(), 4)
    0.5514
    """
    _check_embeddings("supervised_contrastive_loss", embeddings, labels)
    _check_temperature("supervised_contrastive_loss", temperature)
    other = _not_self(labels[:, None] == labels[None, :])
    positive = (labels[:, None] == labels[None, :]) & other
    logits = pairwise_cosine(embeddings, embeddings) / temperature
    log_p = logits - torch.logsumexp(torch.where(other, logits, -torch.inf), dim=1, keepdim=True)
    count = positive.sum(1)
    rows = -torch.where(positive, log_p, 0.0).sum(1) / count.clamp_min(1)
    return _args.reduced(rows, "mean", (count > 0).sum())


def info_nce_loss(first: Tensor, second: Tensor, temperature: float = 0.1, *, symmetric: bool = True) -> Tensor:
    """Row i of `first` belongs to row i of `second`; every other row is a negative (CLIP's loss, InfoNCE).

    >>> round(info_nce_loss(torch.eye(2), torch.eye(2), 1.0).item(), 4)
    0.3133
    """
    if first.shape != second.shape or first.ndim != 2:
        raise ValueError(
            f"info_nce_loss: first has shape {tuple(first.shape)} and second {tuple(second.shape)}; they must be equal, (N, D)."
        )
    _check_temperature("info_nce_loss", temperature)
    logits = pairwise_cosine(first, second) / temperature
    truth = torch.arange(first.shape[0], device=first.device)
    there = F.cross_entropy(logits, truth)
    return (there + F.cross_entropy(logits.T, truth)) / 2 if symmetric else there


def _check_temperature(function: str, temperature: float) -> None:
    if temperature <= 0:
        raise ValueError(f"{function}: temperature is {temperature}; it must be above 0.")


def angular_margin_logits(
    embeddings: Tensor,
    centers: Tensor,
    labels: Tensor,
    *,
    margin: float = 0.5,
    scale: float = 64.0,
    kind: Literal["arc", "cos"] = "arc",
) -> Tensor:
    """Logits (N, C) of ArcFace ("arc": the angle plus margin) or CosFace ("cos": the cosine less margin).

    Feed them to cross-entropy with the same labels; at test time use `pairwise_cosine`. `centers` is the (C, D) weight
    of the classifier. Beyond pi - margin the arc kind goes on as a straight line, so that the loss stays monotone.

    >>> points, centers = torch.tensor([[1.0, 0.0]]), torch.eye(2)
    >>> angular_margin_logits(points, centers, torch.tensor([0]), margin=0.5, scale=1.0, kind="cos").tolist()
    [[0.5, 0.0]]
    """
    _args.one_of("angular_margin_logits", "kind", kind, ("arc", "cos"))
    _check_embeddings("angular_margin_logits", embeddings, labels)
    _check_centers("angular_margin_logits", embeddings, centers)
    cosine = pairwise_cosine(embeddings, centers)
    if kind == "cos":
        moved = cosine - margin
    else:
        limit = 1.0 - torch.finfo(cosine.dtype).eps  # acos has no gradient at 1
        angle = torch.acos(cosine.clamp(-limit, limit))
        line = cosine - torch.sin(torch.tensor(margin)).item() * margin
        moved = torch.where(angle + margin <= torch.pi, torch.cos(angle + margin), line)
    hot = F.one_hot(labels.long(), centers.shape[0]).bool()
    return scale * torch.where(hot, moved, cosine)


def center_loss(embeddings: Tensor, labels: Tensor, centers: Tensor) -> Tensor:
    """Half the squared distance of each embedding to the centre (C, D) of its label, averaged.

    Make `centers` an `nn.Parameter` with a learning rate of its own.

    >>> center_loss(torch.tensor([[3.0, 4.0]]), torch.tensor([0]), torch.zeros(1, 2)).item()
    12.5
    """
    _check_embeddings("center_loss", embeddings, labels)
    _check_centers("center_loss", embeddings, centers)
    gap = _args.wide(embeddings) - _args.wide(centers)[labels.long()]
    return 0.5 * gap.square().sum(1).mean()
