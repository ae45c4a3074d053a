"""Average precision and retrieval. Users import them from `metrics`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from torchlore.recipes import _args
from torchlore.recipes.tensors import pairwise_blocks

BLOCK = 1 << 24  # distances held at once


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
    columns = scores.reshape(-1, 1 if scores.ndim == 1 else scores.shape[1]).t().contiguous()  # GPUs add up along rows
    count = columns.shape[1]
    if count == 0:
        return scores.new_zeros(scores.shape[1:], dtype=torch.float64)
    ranked, order = columns.sort(1, descending=True)
    right = (relevant != 0).reshape(scores.shape[0], -1).t().gather(1, order).double()
    hits = right.cumsum(1)
    rank = torch.arange(1, count + 1, device=scores.device)
    # The value of a tie is the precision at its last place: carry it back from the next end of a tie.
    ends = torch.cat([ranked[:, 1:] != ranked[:, :-1], torch.ones_like(ranked[:, :1], dtype=torch.bool)], 1)
    last = torch.where(ends, rank - 1, count).flip(1).cummin(1).values.flip(1)
    value = (right * (hits / rank).gather(1, last)).sum(1) / hits[:, -1].clamp_min(1.0)
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
                f"mean_average_precision: target has shape {tuple(target.shape)} for {scores.shape[0]} rows of scores; "
                f"it must be ({scores.shape[0]},), or marks of the scores' shape."
            )
        target = target[:, None] == torch.arange(scores.shape[1], device=scores.device)
    each = average_precision(scores, target)
    seen = (target != 0).any(0)
    return torch.where(seen, each, 0.0).sum() / seen.sum().clamp_min(1)


class Retrieval(NamedTuple):
    """What a ranking of the gallery is worth, over all queries with a right entry and for each query."""

    mean_average_precision: Tensor
    cmc: Tensor  # the match curve at ranks 1..max_rank
    queries: int  # that had a right entry
    precision: Tensor  # (Q,) average precision of each query, NaN where it had none
    first: Tensor  # (Q,) rank of its first right entry, from 1; 0 where it had none


def retrieval(
    query: Tensor,
    gallery: Tensor,
    query_labels: Tensor,
    gallery_labels: Tensor,
    *,
    cameras: tuple[Tensor, Tensor] | None = None,
    distance: Literal["euclidean", "cosine"] = "cosine",
    max_rank: int = 50,
    rows: int | None = None,
) -> Retrieval:
    """Rank the gallery for each query; mAP and CMC as in person re-identification, in memory of rows x gallery.

    With `cameras` (of queries, of gallery) an entry of the query's own label and camera is left out, as the protocol
    of Market-1501 does. A query without a right entry in the gallery is left out of both figures. Entries at the same
    distance count as one step, as in scikit-learn, and in the CMC the wrong ones of them come first: the order of the
    gallery changes nothing, and an embedding that gives everything one place is worth nothing. Without `rows` a block
    holds 16 M distances.

    >>> q, g = torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 0.1], [0.9, 0.5], [0.0, 1.0]])
    >>> found = retrieval(q, g, torch.tensor([7]), torch.tensor([3, 7, 7]), max_rank=2)
    >>> round(found.mean_average_precision.item(), 4), found.cmc.tolist(), found.first.tolist()
    (0.5833, [0.0, 1.0], [2])
    """
    _args.one_of("retrieval", "distance", distance, ("euclidean", "cosine"))
    _check_retrieval(query, gallery, query_labels, gallery_labels, cameras)
    if max_rank < 1:
        raise ValueError(f"retrieval: max_rank is {max_rank}; it must be at least 1.")
    found = [torch.empty(0, 2, dtype=torch.float64, device=query.device)]
    for block, apart in _distances(query, gallery, distance, rows or max(1, BLOCK // max(1, gallery.shape[0]))):
        match = query_labels[block][:, None] == gallery_labels
        if cameras is not None:
            junk = match & (cameras[0][block][:, None] == cameras[1])
            apart.masked_fill_(junk, torch.inf)
            match &= ~junk
        found.append(_ranked(apart, match))
    precision, first = torch.cat(found).unbind(1)
    valid = first > 0
    queries = int(valid.sum())
    ranks = torch.arange(1, min(max_rank, gallery.shape[0]) + 1, device=first.device, dtype=first.dtype)
    reached = torch.searchsorted(first[valid].sort().values, ranks, right=True)
    mean = precision[valid].sum() / max(queries, 1)
    return Retrieval(mean, reached.double() / max(queries, 1), queries, precision, first.long())


def _distances(query: Tensor, gallery: Tensor, distance: str, rows: int) -> Iterator[tuple[slice, Tensor]]:
    """As `pairwise_blocks`, but the gallery is neither copied nor its norms taken anew for each block."""
    if distance != "cosine":
        yield from pairwise_blocks(query.detach(), gallery.detach(), distance="euclidean", rows=rows, exact=False)
        return
    left, right = F.normalize(_args.wide(query.detach()), dim=1), _args.wide(gallery.detach())
    scale = -1.0 / torch.linalg.vector_norm(right, dim=1).clamp_min(1e-12)
    for start in range(0, left.shape[0], rows):
        block = slice(start, min(start + rows, left.shape[0]))
        with torch.autocast(left.device.type, enabled=False):
            yield block, (left[block] @ right.T).mul_(scale).add_(1.0).clamp_(0.0, 2.0)


def _check_retrieval(
    query: Tensor, gallery: Tensor, query_labels: Tensor, gallery_labels: Tensor, cameras: tuple[Tensor, Tensor] | None
) -> None:
    if query.ndim != 2 or gallery.ndim != 2 or query.shape[1] != gallery.shape[1]:
        raise ValueError(
            f"retrieval: query has shape {tuple(query.shape)} and gallery {tuple(gallery.shape)}; they must be (Q, D) "
            "and (G, D)."
        )
    pairs = [("query_labels", query_labels, query), ("gallery_labels", gallery_labels, gallery)]
    if cameras is not None:
        pairs += [("cameras[0]", cameras[0], query), ("cameras[1]", cameras[1], gallery)]
    for name, labels, rows in pairs:
        if labels.shape != rows.shape[:1]:
            raise ValueError(
                f"retrieval: {name} has shape {tuple(labels.shape)} for features of shape {tuple(rows.shape)}; it must "
                f"be ({rows.shape[0]},)."
            )


def _ranked(apart: Tensor, match: Tensor) -> Tensor:
    """Average precision of each row and the rank of its first match, (R, 2); NaN and 0 without a match.

    Only the places of the matches are needed, so values are sorted, in place, and not the order of the entries.
    """
    row, column = match.nonzero().unbind(1)
    number = match.sum(1)
    inside = torch.arange(len(row), device=row.device) - (number.cumsum(0) - number)[row]
    right = apart.new_full((len(apart), max(1, int(number.max()) if len(number) else 0)), torch.inf)
    right[row, inside] = apart[row, column]
    right = right.sort(1).values
    hits = torch.searchsorted(right, right, right=True).double()  # right entries up to this distance
    places = torch.searchsorted(_sorted(apart), right, right=True).double()  # all entries up to this distance
    real = torch.arange(right.shape[1], device=right.device) < number[:, None]
    precision = torch.where(real, hits / places, 0.0).sum(1) / number
    first = torch.where(number > 0, places[:, 0] - hits[:, 0] + 1, 0.0)
    return torch.stack([precision, first], 1)


def _sorted(rows: Tensor) -> Tensor:
    """Each row sorted; on the CPU in place, by NumPy, whose sort of values takes a quarter of torch's time."""
    if rows.device.type != "cpu":
        return rows.sort(1).values
    rows.numpy().sort(axis=1)
    return rows
