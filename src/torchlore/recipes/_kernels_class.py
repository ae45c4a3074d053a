"""Triton kernels for rows of class scores, absolute sums and Gram matrices. Only `_ops` imports this module."""
# mypy: ignore-errors
# The language inside @triton.jit only looks like Python; the launchers are typed for the reader.

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import torch
import triton
import triton.language as tl
from torch import Tensor

from torchlore.recipes._launch import launch, pieces, power_of_two

if TYPE_CHECKING:
    from collections.abc import Sequence

# --- cross-entropy with smoothed labels ------------------------------------------------------------------------------


@triton.jit
def _smooth_rows(
    logits: tl.tensor,
    target: tl.tensor,
    out: tl.tensor,  # REDUCED: (2, programs), the sum and the number of rows that count
    kept: tl.tensor,
    sizes: tl.tuple,
    labels: tl.tuple,
    REDUCED: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    """Loss and log-sum-exp of each row; an ignored row has loss 0 and lse inf, one with a wrong label NaN in both."""
    rows, classes = sizes
    off, ignore = labels
    ROWS: tl.constexpr = 2048 // BLOCK if BLOCK < 2048 else 1
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    at = tl.arange(0, BLOCK)
    there = row < rows
    inside = there[:, None] & (at < classes)[None, :]
    start = logits + row * classes
    x = tl.load(start[:, None] + at[None, :], mask=inside, other=-float("inf")).to(tl.float32)
    top = tl.max(x, axis=1)
    top = tl.where(top == -float("inf"), 0.0, top)
    lse = top + tl.log(tl.sum(tl.exp(x - top[:, None]), axis=1))
    label = tl.load(target + row, mask=there, other=ignore)
    known = (label >= 0) & (label < classes) & (label != ignore)
    right = tl.load(start + label, mask=there & known, other=0).to(tl.float32)
    value = lse - (1.0 - classes * off) * right
    if off != 0:
        value -= off * tl.sum(tl.where(inside, x, 0.0), axis=1)
    wrong = float("nan")
    value = tl.where(label == ignore, 0.0, tl.where(known, value, wrong))
    tl.store(kept + row, tl.where(label == ignore, float("inf"), tl.where(known, lse, wrong)), mask=there)
    if REDUCED:
        counted = there & (label != ignore)
        tl.store(out + tl.program_id(0), tl.sum(tl.where(there, value, 0.0)))
        tl.store(out + tl.num_programs(0) + tl.program_id(0), tl.sum(counted.to(tl.float32)))
    else:
        tl.store(out + row, value, mask=there)


@triton.jit
def _smooth_finish(
    sums: tl.tensor,
    loss: tl.tensor,
    kept: tl.tensor,  # its last place gets what each row's gradient is multiplied by
    rows: tl.tensor,
    number: tl.tensor,
    MEAN: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    """One program adds what the others left, always in the same order."""
    total, count = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
    for start in range(0, number, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(sums + at, mask=at < number, other=0)
        count += tl.load(sums + number + at, mask=at < number, other=0)
    factor = 1.0 / tl.maximum(tl.sum(count), 1.0) if MEAN else 1.0
    tl.store(loss, tl.sum(total) * factor)
    tl.store(kept + rows, factor)


@triton.jit
def _smooth_back(
    logits: tl.tensor,
    target: tl.tensor,
    kept: tl.tensor,  # (rows + 1,): the log-sum-exp, and with REDUCED the factor of all rows
    above: tl.tensor,  # what came from above: one value, or one a row
    grad: tl.tensor,
    numbers: tl.tuple,
    REDUCED: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    rows, classes, off = numbers
    ROWS: tl.constexpr = 2048 // BLOCK if BLOCK < 2048 else 1
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    at = tl.arange(0, BLOCK)
    there = row < rows
    inside = there[:, None] & (at < classes)[None, :]
    place = row[:, None] * classes + at[None, :]
    x = tl.load(logits + place, mask=inside, other=0).to(tl.float32)
    label = tl.load(target + row, mask=there, other=0)
    if REDUCED:
        factor = (tl.load(above).to(tl.float32) * tl.load(kept + rows)).broadcast_to((ROWS, 1))
    else:
        factor = tl.load(above + row, mask=there, other=0).to(tl.float32)[:, None]
    lse = tl.load(kept + row, mask=there, other=0)
    hot = (at[None, :] == label[:, None]).to(tl.float32)
    slope = tl.exp(x - lse[:, None]) - off - (1.0 - classes * off) * hot
    slope = tl.where((lse == float("inf"))[:, None], 0.0, slope * factor)
    tl.store(grad + place, slope.to(grad.dtype.element_ty), mask=inside)


def _launch(rows: int, classes: int) -> tuple[tuple[int], int, int]:
    block = max(16, power_of_two(classes))
    warps = 4 if block <= 2048 else 8 if block <= 8192 else 16
    return (pieces(rows, max(1, 2048 // block)),), block, warps


def smooth_loss(logits: Tensor, target: Tensor, off: float, ignore: int, reduction: int) -> tuple[Tensor, Tensor]:
    """The loss of contiguous logits (N, C), every wrong class weighing `off`, and (N + 1,) for `smooth_back`.

    `reduction` is 0 for the rows (N,), 1 for their sum, 2 for the mean of those that count.
    """
    rows, classes = logits.shape
    loss = logits.new_empty(() if reduction else rows, dtype=torch.float32)
    kept = logits.new_empty(rows + 1, dtype=torch.float32)
    if rows == 0:
        return loss.zero_(), kept
    grid, block, warps = _launch(rows, classes)
    out = logits.new_empty(2 * grid[0], dtype=torch.float32) if reduction else loss
    launch(
        _smooth_rows, grid, logits, target, out, kept, (rows, classes), (off, ignore), reduction > 0, block, warps=warps
    )
    if reduction:
        launch(_smooth_finish, (1,), out, loss, kept, rows, grid[0], reduction == 2, 4096, warps=8)
    return loss, kept


def smooth_back(logits: Tensor, target: Tensor, kept: Tensor, above: Tensor, off: float) -> Tensor:
    """The gradient (N, C) by the logits, from the gradient by the loss (one value, or one a row)."""
    rows, classes = logits.shape
    grad = torch.empty_like(logits)
    if rows:
        grid, block, warps = _launch(rows, classes)
        one = above.ndim == 0
        launch(_smooth_back, grid, logits, target, kept, above, grad, (rows, classes, off), one, block, warps=warps)
    return grad


# --- absolute values of many tensors ---------------------------------------------------------------------------------


@triton.jit
def _abs_parts(table: tl.tensor, out: tl.tensor, BLOCK: tl.constexpr) -> None:
    """The sum of one piece of one tensor; `table` holds where each piece starts, how long it is, and how many came before."""
    place = tl.load(table + 3 * tl.program_id(0)).to(tl.pointer_type(tl.float32))
    length = tl.load(table + 3 * tl.program_id(0) + 1)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, length, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.abs(tl.load(place + at, mask=at < length, other=0))
    tl.store(out + tl.program_id(0), tl.sum(total))


@triton.jit
def _signs(table: tl.tensor, above: tl.tensor, out: tl.tensor, BLOCK: tl.constexpr) -> None:
    """The signs of one piece of one tensor times one number, into one long row."""
    place = tl.load(table + 3 * tl.program_id(0)).to(tl.pointer_type(tl.float32))
    length = tl.load(table + 3 * tl.program_id(0) + 1)
    before = tl.load(table + 3 * tl.program_id(0) + 2)
    factor = tl.load(above).to(tl.float32)
    for start in range(0, length, BLOCK):
        at = start + tl.arange(0, BLOCK)
        value = tl.load(place + at, mask=at < length, other=0)
        sign = (value > 0).to(tl.float32) - (value < 0).to(tl.float32)
        tl.store(out + before + at, sign * factor, mask=at < length)


@triton.jit
def _add_signs(table: tl.tensor, factor: tl.tensor, BLOCK: tl.constexpr) -> None:
    """Add the signs of one piece of one tensor times one number to a piece of another, whose address comes third."""
    place = tl.load(table + 3 * tl.program_id(0)).to(tl.pointer_type(tl.float32))
    length = tl.load(table + 3 * tl.program_id(0) + 1)
    home = tl.load(table + 3 * tl.program_id(0) + 2).to(tl.pointer_type(tl.float32))
    for start in range(0, length, BLOCK):
        at = start + tl.arange(0, BLOCK)
        value = tl.load(place + at, mask=at < length, other=0)
        sign = (value > 0).to(tl.float32) - (value < 0).to(tl.float32)
        tl.store(home + at, tl.load(home + at, mask=at < length, other=0) + sign * factor, mask=at < length)


_PIECE = 2**16
_TABLES: dict[tuple[tuple[int, int, int], ...], Tensor] = {}  # tensors mostly stay where they are from step to step


def _table(tensors: Sequence[Tensor], third: Sequence[int], width: int) -> Tensor:
    """(pieces, 3): address, length, and `third` of the tensor plus `width` for each number before the piece."""
    key = tuple([(one.data_ptr(), one.numel(), other) for one, other in zip(tensors, third, strict=True)])
    table = _TABLES.get(key)
    if table is None:
        pieces = [
            (at + 4 * i, min(_PIECE, size - i), other + width * i)
            for at, size, other in key
            for i in range(0, size, _PIECE)
        ]
        table = torch.tensor(pieces, dtype=torch.int64).view(-1, 3).to(tensors[0].device)
        if len(_TABLES) >= 16:
            _TABLES.clear()
        _TABLES[key] = table
    return table


def _starts(tensors: Sequence[Tensor]) -> list[int]:
    """Where each begins in one long row of all of them."""
    return list(itertools.accumulate([one.numel() for one in tensors], initial=0))[:-1]


def abs_sum(parameters: Sequence[Tensor]) -> Tensor:
    """The sum of the absolute values of dense float32 tensors of one device."""
    table = _table(parameters, _starts(parameters), 1)
    out = parameters[0].new_empty(table.shape[0])
    if table.shape[0]:
        launch(_abs_parts, (table.shape[0],), table, out, 4096)
    return out.sum()


def signs(parameters: Sequence[Tensor], above: Tensor) -> tuple[Tensor, ...]:
    """The sign of each number of dense float32 tensors of one device, times the one number `above`."""
    starts = _starts(parameters)
    table = _table(parameters, starts, 1)
    row = parameters[0].new_empty(starts[-1] + parameters[-1].numel())
    if table.shape[0]:
        launch(_signs, (table.shape[0],), table, above, row, 4096)
    if all(map(Tensor.is_contiguous, parameters)):
        return torch._C._nn.unflatten_dense_tensors(row, list(parameters))  # noqa: SLF001 - views, made in one call
    return tuple([row.as_strided(p.shape, p.stride(), start) for p, start in zip(parameters, starts, strict=True)])


def add_signs(parameters: Sequence[Tensor], grads: Sequence[Tensor], factor: float) -> None:
    """Add the signs of dense float32 tensors of one device times `factor` to others of the same layouts."""
    table = _table(parameters, [grad.data_ptr() for grad in grads], 4)
    if table.shape[0]:
        launch(_add_signs, (table.shape[0],), table, factor, 4096)


# --- Gram matrices with signed square root and L2 norm ---------------------------------------------------------------


@triton.jit
def _gram(
    x: tl.tensor,
    out: tl.tensor,
    parts: tl.tensor,
    channels: tl.tensor,
    places: tl.tensor,
    eps: tl.tensor,
    PRECISION: tl.constexpr,
    TILE: tl.constexpr,
) -> None:
    """One tile of X Xᵀ / S and its mirror image: only tiles on and above the diagonal are computed."""
    DEPTH: tl.constexpr = 32
    up, left, tiles = tl.program_id(0), tl.program_id(1), tl.num_programs(0)
    sample = tl.program_id(2).to(tl.int64)
    part = parts + (sample * tiles + up) * tiles + left
    if up > left:
        tl.store(part, 0.0)
    else:
        row, column = up * TILE + tl.arange(0, TILE), left * TILE + tl.arange(0, TILE)
        depth = tl.arange(0, DEPTH)
        base = x + sample * channels * places
        total = tl.zeros((TILE, TILE), tl.float32)
        for start in range(0, places, DEPTH):
            at = start + depth
            first = tl.load(
                base + row[:, None] * places + at[None, :],
                mask=(row < channels)[:, None] & (at < places)[None, :],
                other=0,
            )
            second = tl.load(
                base + column[None, :] * places + at[:, None],
                mask=(column < channels)[None, :] & (at < places)[:, None],
                other=0,
            )
            total = tl.dot(first, second, total, input_precision=PRECISION)
        value = total / places
        value = value / tl.sqrt(tl.abs(value) + eps)
        inside = (row < channels)[:, None] & (column < channels)[None, :]
        square = tl.sum(tl.where(inside, value * value, 0.0))
        tl.store(part, tl.where(up == left, square, 2 * square))
        home = out + sample * channels * channels
        tl.store(home + row[:, None] * channels + column[None, :], value, mask=inside)
        if up != left:
            mirror = (column < channels)[:, None] & (row < channels)[None, :]
            tl.store(home + column[:, None] * channels + row[None, :], tl.trans(value), mask=mirror)


@triton.jit
def _root(out: tl.tensor, parts: tl.tensor, cells: tl.tensor, eps: tl.tensor, BLOCK: tl.constexpr) -> None:
    """The signed square root in place, and the sum of squares of each program's share."""
    sample, part = tl.program_id(1).to(tl.int64), tl.program_id(0)
    at = part * BLOCK + tl.arange(0, BLOCK)
    home = out + sample * cells + at
    value = tl.load(home, mask=at < cells, other=0)
    value = value / tl.sqrt(tl.abs(value) + eps)
    tl.store(home, value, mask=at < cells)
    tl.store(parts + sample * tl.num_programs(0) + part, tl.sum(value * value))


@triton.jit
def _scale(
    out: tl.tensor,
    parts: tl.tensor,
    norms: tl.tensor,
    cells: tl.tensor,
    number: tl.tensor,
    NUMBER: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    sample, part = tl.program_id(1).to(tl.int64), tl.program_id(0)
    which = tl.arange(0, NUMBER)
    square = tl.sum(tl.load(parts + sample * number + which, mask=which < number, other=0))
    norm = tl.maximum(tl.sqrt(square), 1e-12)
    if part == 0:
        tl.store(norms + sample, norm)
    at = part * BLOCK + tl.arange(0, BLOCK)
    home = out + sample * cells + at
    tl.store(home, tl.load(home, mask=at < cells, other=0) / norm, mask=at < cells)


def bilinear(x: Tensor, eps: float, precision: str) -> tuple[Tensor, Tensor]:
    """Normalised bilinear pooling (N, D * D) of contiguous features (N, D, S), and the norms (N,) before."""
    samples, channels, places = x.shape
    cells = channels * channels
    norms = torch.empty(samples, dtype=torch.float32, device=x.device)
    if precision == "ieee" and x.dtype == torch.float32:
        out = torch.bmm(x, x.transpose(1, 2)).div_(places)
        parts = torch.empty(samples, pieces(cells, 4096), dtype=torch.float32, device=x.device)
        launch(_root, (parts.shape[1], samples), out, parts, cells, eps, 4096, warps=8)
    else:
        out = torch.empty(samples, channels, channels, dtype=torch.float32, device=x.device)
        tile = 128 if channels >= 128 else 32
        tiles = pieces(channels, tile)
        parts = torch.empty(samples, tiles * tiles, dtype=torch.float32, device=x.device)
        grid = (tiles, tiles, samples)
        launch(_gram, grid, x, out, parts, channels, places, eps, precision, tile, warps=8 if tile == 128 else 4)
    number = power_of_two(parts.shape[1])
    grid = (pieces(cells, 4096), samples)
    launch(_scale, grid, out, parts, norms, cells, parts.shape[1], number, 4096, warps=8)
    return out.view(samples, cells), norms
