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

from torchlore.recipes._launch import launch, pieces, power_of_two

# Flags of the overlap kernels; WHOLE: integer targets; ONE: one value came from above, not one a row.
LOGITS, SQUARED, IGNORE, WHOLE, ONE = 1, 2, 4, 8, 16
NO_LABEL = -(2**62)  # stands for "no ignore_index": no label has this value


# --- moving blocks of pictures ---------------------------------------------------------------------------------------


@triton.jit
def _ranks(noise: tl.tensor, spread: tl.tensor, BLOCKS: tl.constexpr, SIDE: tl.constexpr) -> tl.tensor:
    """Where each block of each line lies after a stable sort by its index plus noise; (SIDE, SIDE)."""
    line, place = tl.arange(0, SIDE)[:, None], tl.arange(0, SIDE)[None, :]
    inside = (line < BLOCKS) & (place < BLOCKS)
    key = tl.load(noise + line * BLOCKS + place, mask=inside, other=0) * spread + place
    key = tl.where(place < BLOCKS, key, float("inf"))
    mine, other = key[:, :, None], key[:, None, :]
    earlier = tl.arange(0, SIDE)[None, None, :] < tl.arange(0, SIDE)[None, :, None]
    return tl.sum(((other < mine) | ((other == mine) & earlier)).to(tl.int32), axis=2)


@triton.jit
def _order(
    noise: tl.tensor, plan: tl.tensor, samples: tl.tensor, spread: tl.tensor, BLOCKS: tl.constexpr, SIDE: tl.constexpr
) -> None:
    """Each row by the second half of the noise, each column by the first; one sample a program."""
    CELLS: tl.constexpr = BLOCKS * BLOCKS
    sample = tl.program_id(0).to(tl.int64)
    down = _ranks(noise + sample * CELLS, spread, BLOCKS, SIDE)  # (column, source row)
    across = _ranks(noise + (samples + sample) * CELLS, spread, BLOCKS, SIDE)  # (row, source column)
    row, column = tl.arange(0, SIDE)[:, None], tl.arange(0, SIDE)[None, :]
    hit = down[None, :, :] == row[:, :, None]  # (row, column, source row)
    source = tl.sum(tl.where(hit, tl.arange(0, SIDE)[None, None, :], 0), axis=2)
    inside = (row < BLOCKS) & (column < BLOCKS)
    home = plan + sample * CELLS + row * BLOCKS + across
    tl.store(home, (source * BLOCKS + column).to(tl.int64), mask=inside)


def order_blocks(noise: Tensor, spread: float) -> Tensor:
    """The plan (N, B, B) that noise (2, N, B, B) in [0, 1) times `spread` gives."""
    _two, samples, blocks, _blocks = noise.shape
    plan = torch.empty(samples, blocks, blocks, dtype=torch.int64, device=noise.device)
    if samples:
        launch(_order, (samples,), noise, plan, samples, spread, blocks, max(2, power_of_two(blocks)))
    return plan


@triton.jit
def _move(
    source: tl.tensor,
    result: tl.tensor,
    plan: tl.tensor,
    UNIT: tl.constexpr,  # what is copied at a time, whatever the tensors hold
    HEIGHT: tl.constexpr,
    WIDTH: tl.constexpr,  # of a line in units, not pixels
    WIDE: tl.constexpr,  # of a block in units
    BLOCKS: tl.constexpr,
) -> None:
    BLOCK: tl.constexpr = 1024
    source = source.to(tl.pointer_type(UNIT), bitcast=True)
    result = result.to(tl.pointer_type(UNIT), bitcast=True)
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


_UNITS = ((8, tl.int64), (4, tl.int32), (2, tl.int16), (1, tl.int8))
_SIMPLE = (torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.uint8, torch.int32, torch.int64)


def move_blocks(planes: Tensor, plan: Tensor) -> Tensor:
    """Move the blocks of contiguous planes (N, L, H, W, K); what fills no block stays."""
    samples, lead, height, width, inner = planes.shape
    blocks = plan.shape[1]
    result = torch.empty_like(planes)
    if planes.numel() == 0:
        return result
    line, run = (count * inner * planes.element_size() for count in (width, width // blocks))
    start = planes.data_ptr()  # a slice of a larger tensor may start anywhere
    size, unit = next((size, unit) for size, unit in _UNITS if run % size == line % size == start % size == 0)
    grid = (pieces(height * line // size, 1024), lead, samples)
    ends = (planes, result) if planes.dtype in _SIMPLE else (planes.view(torch.uint8), result.view(torch.uint8))
    launch(_move, grid, *ends, plan, unit, height, line // size, run // size, blocks)
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
        bins = max(64, power_of_two(cells + 1))
        grid = (max(1, min(pieces(total, 2048), 1024)),)
        launch(_count_few, grid, prediction, target, counts, total, classes, skip, bins, 2048)
    else:
        copies = max(1, min(16, 2**20 // cells))
        counts = torch.zeros(copies, cells, dtype=torch.int32, device=target.device)
        grid = (max(1, pieces(total, 1024)),)
        launch(_count_many, grid, prediction, target, counts, total, classes, skip, copies, 1024)
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
def _overlap_finish(
    sums: tl.tensor,
    kept: tl.tensor,
    loss: tl.tensor,
    sizes: tl.tuple,
    ratio: tl.tuple,
    REDUCED: tl.constexpr,
    ROWS: tl.constexpr,
    PARTS: tl.constexpr,
) -> None:
    """Each row's loss, or with REDUCED their sum times `scale`; its truth, its slopes by intersection and prediction."""
    number, parts = sizes
    k, a, b, eps, scale = ratio
    at, c = tl.arange(0, PARTS)[None, :], k - a - b
    total = tl.zeros((ROWS,), tl.float32)
    for start in range(tl.program_id(0) * ROWS, number, tl.num_programs(0) * ROWS):
        row = start + tl.arange(0, ROWS).to(tl.int64)
        there = row < number
        inside = there[:, None] & (at < parts)
        place = sums + (row[:, None] * parts + at) * 3
        inter = tl.sum(tl.load(place, mask=inside, other=0), axis=1)
        pred = tl.sum(tl.load(place + 1, mask=inside, other=0), axis=1)
        true = tl.sum(tl.load(place + 2, mask=inside, other=0), axis=1)
        above, below = k * inter + eps, a * pred + b * true + c * inter + eps
        value = 1.0 - above / below
        if REDUCED:
            total += tl.where(there, value, 0.0)
        else:
            tl.store(loss + row, value, mask=there)
        tl.store(kept + row, true, mask=there)
        tl.store(kept + number + row, (above * c / below - k) / below, mask=there)
        tl.store(kept + 2 * number + row, above * a / below / below, mask=there)
    if REDUCED:
        tl.store(loss, tl.sum(total) * scale)


@triton.jit
def _overlap_back(
    scores: tl.tensor,
    targets: tl.tensor,
    kept: tl.tensor,
    above: tl.tensor,  # what came from above: one value, or one a row
    grad: tl.tensor,
    numbers: tl.tuple,
    FLAGS: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    length, ignore, scale = numbers
    row, rows = tl.program_id(1).to(tl.int64), tl.num_programs(1)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < length
    prob, truth, keep = _masks(scores, targets, row * length + at, inside, ignore, FLAGS)
    factor = tl.load(above if FLAGS & 16 else above + row).to(tl.float32) * scale
    by_inter, by_pred = tl.load(kept + rows + row) * factor, tl.load(kept + 2 * rows + row) * factor
    slope = by_inter * truth + (2 * by_pred * prob if FLAGS & 2 else by_pred)
    if FLAGS & 1:
        slope = slope * prob * (1 - prob)
    tl.store(grad + row * length + at, tl.where(keep, slope, 0.0).to(grad.dtype.element_ty), mask=inside)


def overlap_loss(
    scores: Tensor, targets: Tensor, rows: int, ratio: list[float], ignore: int, flags: int, reduction: int
) -> tuple[Tensor, Tensor]:
    """The loss of contiguous masks, `rows` of them, and (3, R): the truth's sum, slopes by intersection and prediction.

    `reduction` is 0 for the rows (R,), 1 for their sum, 2 for their mean.
    """
    kept = scores.new_empty((3, rows), dtype=torch.float32)
    loss = scores.new_empty(() if reduction else rows, dtype=torch.float32)
    if rows == 0:
        return loss.zero_(), kept
    length, block = scores.numel() // rows, 1024
    parts = max(1, min(pieces(length, block), 4096 // rows, 1024))
    sums = scores.new_empty(rows * parts * 3, dtype=torch.float32)
    launch(_overlap_sums, (rows, parts), scores, targets, sums, length, ignore, flags, block)
    wide = power_of_two(parts)
    some = max(1, 2048 // wide)
    grid = (1 if reduction else pieces(rows, some),)
    scale = 1.0 / rows if reduction == 2 else 1.0
    launch(_overlap_finish, grid, sums, kept, loss, (rows, parts), (*ratio, scale), reduction > 0, some, wide)
    return loss, kept


def overlap_back(
    scores: Tensor, targets: Tensor, kept: Tensor, above: Tensor, ignore: int, flags: int, reduction: int
) -> Tensor:
    """The gradient by the scores, from the gradient by the loss (one value, or one a row)."""
    grad = torch.empty_like(scores)
    if scores.numel():
        rows = kept.shape[1]
        length = scores.numel() // rows
        scale = 1.0 / rows if reduction == 2 else 1.0
        grid = (pieces(length, 2048), rows)
        flags += ONE * (reduction > 0)
        launch(_overlap_back, grid, scores, targets, kept, above, grad, (length, ignore, scale), flags, 2048)
    return grad
