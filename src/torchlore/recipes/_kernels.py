"""Triton kernels behind the recipes, and the functions that launch them. Only `_ops` imports this module.

Each kernel reads and writes every value once; what it computes is checked on the CPU with Triton's interpreter.
"""
# mypy: ignore-errors
# The language inside @triton.jit only looks like Python; the launchers are typed for the reader.

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

LOGITS, SQUARED, IGNORE, WHOLE = 1, 2, 4, 8  # flags of the overlap kernels; WHOLE: integer targets
NO_LABEL = -(2**62)  # stands for "no ignore_index": no label has this value


# --- moving blocks of pictures ---------------------------------------------------------------------------------------


@triton.jit
def _move(
    source: tl.tensor,
    result: tl.tensor,
    plan: tl.tensor,
    HEIGHT: tl.constexpr,
    WIDTH: tl.constexpr,  # of a line in units, not pixels
    WIDE: tl.constexpr,  # of a block in units
    BLOCKS: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    sample = tl.program_id(2).to(tl.int64)
    plane = (sample * tl.num_programs(1) + tl.program_id(1)) * (HEIGHT * WIDTH)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < HEIGHT * WIDTH
    high: tl.constexpr = HEIGHT // BLOCKS
    row, column = at // WIDTH, at % WIDTH
    down, across = row // high, column // WIDE
    moves = inside & (down < BLOCKS) & (across < BLOCKS)
    block = tl.load(plan + sample * (BLOCKS * BLOCKS) + down * BLOCKS + across, mask=moves, other=0).to(tl.int32)
    from_row = (block // BLOCKS) * high + row % high
    from_column = (block % BLOCKS) * WIDE + column % WIDE
    place = tl.where(moves, from_row * WIDTH + from_column, at)
    tl.store(result + plane + at, tl.load(source + plane + place, mask=inside), mask=inside)


_UNITS = ((8, torch.int64), (4, torch.int32), (2, torch.int16), (1, torch.uint8))


def move_blocks(planes: Tensor, plan: Tensor) -> Tensor:
    """Move the blocks of contiguous planes (N, L, H, W, K); what fills no block stays."""
    samples, lead, height, width, inner = planes.shape
    blocks = plan.shape[1]
    result = torch.empty_like(planes)
    if planes.numel() == 0:
        return result
    line, run = (count * inner * planes.element_size() for count in (width, width // blocks))
    size, unit = next((size, unit) for size, unit in _UNITS if run % size == 0 and line % size == 0)
    start, end = (value.view(-1).view(torch.uint8).view(unit) for value in (planes, result))
    grid = (triton.cdiv(height * line // size, 1024), lead, samples)
    _move[grid](start, end, plan, height, line // size, run // size, blocks, 1024)
    return result


# --- counting pairs of labels ----------------------------------------------------------------------------------------


@triton.jit
def _cells(
    prediction: tl.tensor, target: tl.tensor, at: tl.tensor, total: tl.tensor, classes: tl.tensor, ignore: tl.tensor
) -> tl.tensor:
    """The cell of each pair: classes² for one outside, -1 for one that does not count."""
    inside = at < total
    row = tl.load(target + at, mask=inside, other=0).to(tl.int64)
    column = tl.load(prediction + at, mask=inside, other=0).to(tl.int64)
    good = (row >= 0) & (row < classes) & (column >= 0) & (column < classes)
    cell = tl.where(good, row * classes + column, classes * classes)
    return tl.where(inside & (row != ignore), cell, -1).to(tl.int32)


@triton.jit
def _count_many(
    prediction: tl.tensor,
    target: tl.tensor,
    counts: tl.tensor,
    total: tl.tensor,
    classes: tl.tensor,
    ignore: tl.tensor,
    copies: tl.tensor,
    BLOCK: tl.constexpr,
) -> None:
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    cell = _cells(prediction, target, at, total, classes, ignore)
    copy = (tl.program_id(0) % copies).to(tl.int64) * (classes * classes + 1)
    tl.atomic_add(counts + copy + cell, tl.full((BLOCK,), 1, tl.int32), mask=cell >= 0, sem="relaxed")


@triton.jit
def _count_few(
    prediction: tl.tensor,
    target: tl.tensor,
    counts: tl.tensor,
    total: tl.tensor,
    classes: tl.tensor,
    ignore: tl.tensor,
    BINS: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    bins = tl.arange(0, BINS)
    found = tl.zeros((BINS,), tl.int32)
    for start in range(tl.program_id(0) * BLOCK, total, tl.num_programs(0) * BLOCK):
        at = start + tl.arange(0, BLOCK).to(tl.int64)
        cell = _cells(prediction, target, at, total, classes, ignore)
        found += tl.histogram(tl.where(cell < 0, BINS - 1, cell), BINS)
    tl.atomic_add(counts + bins, found, mask=bins <= classes * classes, sem="relaxed")


def count_pairs(prediction: Tensor, target: Tensor, classes: int, ignore: int | None) -> Tensor:
    """Counts of cells row * C + column, and in one cell more the pairs outside; int64 (C * C + 1,).

    Few cells are counted in each program's registers; many by atomic additions in the L2 cache, spread over copies of
    the table so that a cell hit often does not queue.
    """
    cells, total = classes * classes + 1, target.numel()
    skip = NO_LABEL if ignore is None else ignore
    if cells < 1024:
        counts = torch.zeros(1, cells, dtype=torch.int32, device=target.device)
        bins = max(64, triton.next_power_of_2(cells + 1))
        grid = (max(1, min(triton.cdiv(total, 2048), 1024)),)
        _count_few[grid](prediction, target, counts, total, classes, skip, bins, 2048)
    else:
        copies = max(1, min(16, 2**20 // cells))
        counts = torch.zeros(copies, cells, dtype=torch.int32, device=target.device)
        grid = (max(1, triton.cdiv(total, 1024)),)
        _count_many[grid](prediction, target, counts, total, classes, skip, copies, 1024)
    return counts.sum(0, dtype=torch.int64) if counts.shape[0] > 1 else counts[0].long()


# --- overlap of soft masks -------------------------------------------------------------------------------------------


@triton.jit
def _masks(
    scores: tl.tensor,
    targets: tl.tensor,
    at: tl.tensor,
    inside: tl.tensor,
    ignore: tl.tensor,
    FLAGS: tl.constexpr,
) -> tuple[tl.tensor, tl.tensor, tl.tensor]:
    """Probability, truth and whether the place counts."""
    score = tl.load(scores + at, mask=inside, other=0).to(tl.float32)
    raw = tl.load(targets + at, mask=inside, other=0)
    keep = inside
    if FLAGS & 4:
        keep = keep & (raw != ignore)
    truth = (raw != 0).to(tl.float32) if FLAGS & 8 else raw.to(tl.float32)
    prob = tl.sigmoid(score) if FLAGS & 1 else score
    return tl.where(keep, prob, 0.0), tl.where(keep, truth, 0.0), keep


@triton.jit
def _overlap_sums(
    scores: tl.tensor,
    targets: tl.tensor,
    sums: tl.tensor,
    length: tl.tensor,
    ignore: tl.tensor,
    FLAGS: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    row, part, parts = tl.program_id(0).to(tl.int64), tl.program_id(1), tl.num_programs(1)
    inter, pred = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
    true = tl.zeros((BLOCK,), tl.float32)
    for start in range(part * BLOCK, length, parts * BLOCK):
        at = start + tl.arange(0, BLOCK)
        prob, truth, _keep = _masks(scores, targets, row * length + at, at < length, ignore, FLAGS)
        inter += prob * truth
        pred += prob * prob if FLAGS & 2 else prob
        true += truth * truth if FLAGS & 2 else truth
    place = sums + (row * parts + part) * 3
    tl.store(place, tl.sum(inter))
    tl.store(place + 1, tl.sum(pred))
    tl.store(place + 2, tl.sum(true))


@triton.jit
def _overlap_rows(
    sums: tl.tensor,
    rows: tl.tensor,
    parts: tl.tensor,
    k: tl.tensor,
    a: tl.tensor,
    b: tl.tensor,
    eps: tl.tensor,
    BLOCK: tl.constexpr,
) -> None:
    """Loss, truth, and the loss's slopes by the intersection and by the prediction, of one row."""
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    place = sums + (row * parts + at) * 3
    inter = tl.sum(tl.load(place, mask=at < parts, other=0))
    pred = tl.sum(tl.load(place + 1, mask=at < parts, other=0))
    true = tl.sum(tl.load(place + 2, mask=at < parts, other=0))
    c = k - a - b
    above, below = k * inter + eps, a * pred + b * true + c * inter + eps
    number = tl.num_programs(0)
    tl.store(rows + row, 1.0 - above / below)
    tl.store(rows + number + row, true)
    tl.store(rows + 2 * number + row, (above * c / below - k) / below)
    tl.store(rows + 3 * number + row, above * a / below / below)


@triton.jit
def _overlap_back(
    scores: tl.tensor,
    targets: tl.tensor,
    slopes: tl.tensor,
    grad: tl.tensor,
    length: tl.tensor,
    ignore: tl.tensor,
    FLAGS: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    row = tl.program_id(1).to(tl.int64)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < length
    prob, truth, keep = _masks(scores, targets, row * length + at, inside, ignore, FLAGS)
    by_inter, by_pred = tl.load(slopes + row), tl.load(slopes + tl.num_programs(1) + row)
    slope = by_inter * truth + (2 * by_pred * prob if FLAGS & 2 else by_pred)
    if FLAGS & 1:
        slope = slope * prob * (1 - prob)
    tl.store(grad + row * length + at, tl.where(keep, slope, 0.0).to(grad.dtype.element_ty), mask=inside)


def overlap_rows(scores: Tensor, targets: Tensor, ratio: list[float], ignore: int, flags: int) -> Tensor:
    """(4, R) of contiguous masks (R, L): loss, sum of the truth, slope by intersection, slope by prediction."""
    rows, length = scores.shape
    k, a, b, eps = ratio
    block = 1024
    parts = max(1, min(triton.cdiv(length, block), 4096 // max(rows, 1), 1024))
    sums = torch.empty(rows, parts, 3, dtype=torch.float32, device=scores.device)
    result = torch.empty(4, rows, dtype=torch.float32, device=scores.device)
    if rows:
        _overlap_sums[(rows, parts)](scores, targets, sums, length, ignore, flags, block)
        _overlap_rows[(rows,)](sums, result, parts, k, a, b, eps, triton.next_power_of_2(parts))
    return result


def overlap_back(scores: Tensor, targets: Tensor, slopes: Tensor, ignore: int, flags: int) -> Tensor:
    """The gradient (R, L) by the scores, from each row's two slopes (already times what came from above)."""
    rows, length = scores.shape
    grad = torch.empty_like(scores)
    if scores.numel():
        grid = (triton.cdiv(length, 2048), rows)
        _overlap_back[grid](scores, targets, slopes, grad, length, ignore, flags, 2048)
    return grad
