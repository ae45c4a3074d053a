"""A large picture through a window of the size the model was trained at: overlapping windows, their edges faded out."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

AT_ONCE = 16  # windows in a forward pass


def starts(length: int, size: int) -> list[int]:
    """Where windows begin so that they cover a length, each at least half over the one before.

    >>> starts(100, 40)
    [0, 20, 40, 60]
    """
    if length <= size:
        return [0]
    count = -(-(length - size) // max(1, size // 2)) + 1
    return [round(number * (length - size) / (count - 1)) for number in range(count)]


def slide(model: Callable[[Tensor], Tensor], picture: Tensor, size: int) -> Tensor:
    """Scores (1, K, H, W) of a picture (1, C, H, W): the mean over the windows, weighted by the way to their edge."""
    height, width = picture.shape[2:]
    picture = F.pad(picture, (0, max(0, size - width), 0, max(0, size - height)))
    tall, wide = picture.shape[2:]
    places = [(top, left) for top in starts(tall, size) for left in starts(wide, size)]
    if len(places) == 1:
        return model(picture)[:, :, :height, :width]
    ramp = torch.arange(1, size + 1, device=picture.device, dtype=picture.dtype)
    ramp = torch.minimum(ramp, ramp.flip(0)) / size
    weight = ramp[:, None] * ramp
    sums: Tensor | None = None
    total = picture.new_zeros(tall, wide)
    for at in range(0, len(places), AT_ONCE):
        some = places[at : at + AT_ONCE]
        scores = model(torch.cat([picture[:, :, top : top + size, left : left + size] for top, left in some])).float()
        sums = scores.new_zeros(1, scores.shape[1], tall, wide) if sums is None else sums
        for (top, left), score in zip(some, scores, strict=True):
            sums[0, :, top : top + size, left : left + size] += score * weight
            total[top : top + size, left : left + size] += weight
    assert sums is not None
    return (sums / total)[:, :, :height, :width]
