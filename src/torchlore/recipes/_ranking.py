"""Average precision and retrieval. Users import them from `metrics`."""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor

from torchlore.recipes import _args
from torchlore.recipes.tensors import pairwise_blocks


def average_precision(scores: Tensor, relevant: Tensor) -> Tensor:
    """Average precision of yes/no labels (N,) ranked by scores (N,), as scikit-learn defines it; ties count as one step.

    Without a positive it is 0. Scores (N, C) with labels (N, C) give one value per column.

    >>> round(average_precision(torch.tensor([0.9, 0.8, 0.7]), torch.tensor([1, 0, 1])).item(), 4)
    0.8333
    """
    if scores.shape != relevant.shape or scores.ndim not in (1, 2):
        raise ValueError(
            f"average_precision: scores have shape {tuple(scores.shape)} and relevant {tuple(relevant.shape)}; they must "
            "be equal, (N,) or (N, C)."
        )
    _args.floating("average_precision", "scores", scores)
    flat = scores.unsqueeze(1) if scores.ndim == 1 else scores
    truth = (relevant != 0).reshape(flat.shape)
    if flat.shape[0] == 0:
        return flat.new_zeros(flat.shape[1:] if scores.ndim == 2 else (), dtype=torch.float64)
    ranked, order = flat.sort(0, descending=True)
    hits = truth.gather(0, order).double().cumsum(0)
    rank = torch.arange(1, flat.shape[0] + 1, device=flat.device, dtype=torch.float64).unsqueeze(1)
    precision = hits / rank
    # The value of a tie is the precision at its last place: carry it back from the next end of a tie.
    ends = torch.cat([ranked[1:] != ranked[:-1], torch.ones_like(ranked[:1], dtype=torch.bool)])
    last = torch.where(ends, rank.long().expand_as(ranked) - 1, flat.shape[0]).flip(0).cummin(0).values.flip(0)
    gain = truth.gather(0, order).double() * precision.gather(0, last)
    value = gain.sum(0) / hits[-1].clamp_min(1.0)
    return value.squeeze(0) if scores.ndim == 1 else value


def mean_average_precision(scores: Tensor, target: Tensor) -> Tensor:
    """Mean over the classes that occur of each class's average precision (one against the rest).

    `target` is labels (N,) or yes/no (N, C).

    >>> mean_average_precision(torch.tensor([[0.9, 0.1], [0.2, 0.8]]), torch.tensor([0, 1])).item()
    1.0
    """
    if scores.ndim != 2:
        raise ValueError(f"mean_average_precision: scores have shape {tuple(scores.shape)}; they must be (N, C).")
    if target.ndim == 1:
        if target.shape[0] != scores.shape[0]:
            raise ValueError(
                f"mean_average_precision: target has {target.shape[0]} labels for {scores.shape[0]} rows of scores."
            )
        target = target[:, None] == torch.arange(scores.shape[1], device=scores.device)
    each = average_precision(scores, target)
    seen = (target != 0).any(0)
    return torch.where(seen, each, 0.0).sum() / seen.sum().clamp_min(1)


class Retrieval(NamedTuple):
    """Mean average precision, the match curve (CMC) at ranks 1..max_rank, and how many queries had a match."""

    mean_average_precision: Tensor
    cmc: Tensor
    queries: int


def retrieval(
    query: Tensor,
    gallery: Tensor,
    query_labels: Tensor,
    gallery_labels: Tensor,
    *,
    cameras: tuple[Tensor, Tensor] | None = None,
    distance: Literal["euclidean", "cosine"] = "cosine",
    max_rank: int = 50,
    rows: int = 256,
) -> Retrieval:
    """Rank the gallery for each query; mAP and CMC as in person re-identification, in memory of rows x gallery.

    With `cameras` (of queries, of gallery) an entry of the query's own label and camera is left out, as the protocol
    of Market-1501 does. A query without a right entry in the gallery is left out of both figures.

    >>> q, g = torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 0.1], [0.9, 0.5], [0.0, 1.0]])
    >>> found = retrieval(q, g, torch.tensor([7]), torch.tensor([3, 7, 7]), max_rank=2)
    >>> round(found.mean_average_precision.item(), 4), found.cmc.tolist()
    (0.5833, [0.0, 1.0])
    """
    _check_retrieval(query, gallery, query_labels, gallery_labels, cameras)
    if max_rank < 1:
        raise ValueError(f"retrieval: max_rank is {max_rank}; it must be at least 1.")
    depth = min(max_rank, gallery.shape[0])
    total = torch.zeros((), dtype=torch.float64, device=query.device)
    curve = torch.zeros(depth, dtype=torch.float64, device=query.device)
    count = torch.zeros((), dtype=torch.int64, device=query.device)
    for block, apart in pairwise_blocks(query, gallery, distance=distance, rows=rows, exact=False):
        match = query_labels[block][:, None] == gallery_labels
        junk = torch.zeros_like(match)
        if cameras is not None:
            junk = match & (cameras[0][block][:, None] == cameras[1])
        precision, first = _ranked(apart, match & ~junk, junk)
        valid = first < gallery.shape[0]
        total += precision[valid].sum()
        curve += (first[:, None] <= torch.arange(depth, device=first.device))[valid].double().sum(0)
        count += valid.sum()
    queries = int(count)
    return Retrieval(total / max(queries, 1), curve / max(queries, 1), queries)


def _check_retrieval(
    query: Tensor, gallery: Tensor, query_labels: Tensor, gallery_labels: Tensor, cameras: tuple[Tensor, Tensor] | None
) -> None:
    pairs = [("query_labels", query_labels, query), ("gallery_labels", gallery_labels, gallery)]
    if cameras is not None:
        pairs += [("cameras[0]", cameras[0], query), ("cameras[1]", cameras[1], gallery)]
    for name, labels, rows in pairs:
        if labels.shape != rows.shape[:1]:
            raise ValueError(
                f"retrieval: {name} has shape {tuple(labels.shape)} for features of shape {tuple(rows.shape)}; it must "
                f"be ({rows.shape[0]},)."
            )


def _ranked(apart: Tensor, match: Tensor, junk: Tensor) -> tuple[Tensor, Tensor]:
    """Average precision of each row and the rank (from 0) of its first match, the row's length if there is none.

    Junk is pushed behind everything that counts, so that it takes no rank.
    """
    order = torch.where(junk, torch.inf, apart).argsort(dim=1, stable=True)
    hit = match.gather(1, order)
    rank = torch.arange(1, hit.shape[1] + 1, device=hit.device, dtype=torch.float64)
    precision = hit.double().cumsum(1) / rank
    number = hit.sum(1)
    value = (precision * hit).sum(1) / number.clamp_min(1)
    first = torch.where(number > 0, hit.int().argmax(1), hit.shape[1])
    return value, first
