"""Counting pairs of labels: the heart of the confusion matrix in `metrics`."""

from __future__ import annotations

import torch
from torch import Tensor

from torchlore.recipes import _args, _ops

_CHUNK = 2**17  # labels at a time on the CPU: what is computed between two passes stays in the cache


def count_pairs(prediction: Tensor, target: Tensor, classes: int, ignore_index: int | None) -> Tensor:
    """Counts of cells row * C + column, and in one cell more how many pairs hold a label out of range."""
    row, column = target.reshape(-1), prediction.reshape(-1)
    countable = torch.bool not in {row.dtype, column.dtype} and max(row.numel(), classes**2) < 2**31 - 1
    if countable and _ops.fits(row):
        return _ops.one("count_pairs", column.contiguous(), row.contiguous(), classes, ignore_index)
    if not _args.may_read(row):
        return _count_any(row, column, classes, ignore_index)
    if row.numel() <= _CHUNK or classes**2 > _CHUNK // 4:
        return _count_read(row, column, classes, ignore_index)
    counts = torch.zeros(classes * classes + 1, dtype=torch.int64)
    for part, called in zip(row.split(_CHUNK), column.split(_CHUNK), strict=True):
        counts += _count_read(part, called, classes, ignore_index)
    return counts


def _count_read(row: Tensor, column: Tensor, classes: int, ignore_index: int | None) -> Tensor:
    """Look at the range first: labels that are all in range need no masks."""
    if ignore_index is not None:
        keep = row != ignore_index
        row, column = row[keep], column[keep]
    if not (_in_range(row, classes) and _in_range(column, classes)):
        return _count_any(row, column, classes, None)
    narrow = torch.int32 if classes**2 < 2**31 else torch.int64  # half the bytes, and int64 products are slow
    cell = torch.add(column.to(narrow), row.to(narrow), alpha=classes)
    return torch.bincount(cell, minlength=classes * classes + 1)


def _in_range(labels: Tensor, classes: int) -> bool:
    if labels.numel() == 0:
        return True
    if labels.dtype == torch.bool:
        return classes > 1
    low, high = torch.aminmax(labels)
    return int(low) >= 0 and int(high) < classes


def _count_any(row: Tensor, column: Tensor, classes: int, ignore_index: int | None) -> Tensor:
    row, column = row.long(), column.long()
    inside = (row >= 0) & (row < classes) & (column >= 0) & (column < classes)
    cell = torch.where(inside, row * classes + column, classes * classes)
    if ignore_index is not None:
        cell = torch.where(row == ignore_index, classes * classes + 1, cell)
    return torch.bincount(cell, minlength=classes * classes + 2)[: classes * classes + 1]
