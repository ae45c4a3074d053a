"""Augmentation as a pure function of the picture and a row of random numbers.

The numbers of a whole global batch are drawn at once from a generator that belongs to the step. So the pictures do not
depend on how many workers or processes read them, or where a run was resumed.
"""

from __future__ import annotations

import torch
from torch import Tensor

from torchlore.recipes.seed import derive

DRAWS = 8  # numbers in [0, 1) a sample: flip, two shifts, crop's area, ratio, two places, one spare


def draw(count: int, seed: int, epoch: int, batch: int) -> Tensor:
    """The numbers (count, DRAWS) of one global batch."""
    return torch.rand(count, DRAWS, generator=torch.Generator().manual_seed(derive(seed, "draws", epoch, batch)))


def shift_and_flip(pictures: Tensor, draws: Tensor, flip: bool = False) -> Tensor:
    """Move each picture (B, C, H, W) by up to an eighth of its side, edges filled with 0, and mirror half of them.

    >>> shift_and_flip(torch.ones(1, 1, 8, 8, dtype=torch.uint8), torch.full((1, 8), 0.5)).sum().item()
    64
    """
    batch, channels, height, width = pictures.shape
    reach = max(1, min(height, width) // 8)
    rows = _places(draws[:, 1], height, reach)
    columns = _places(draws[:, 2], width, reach)
    if flip:
        columns = torch.where(draws[:, :1] < 0.5, columns.flip(1), columns)
    padded = torch.nn.functional.pad(pictures, (reach, reach, reach, reach))
    at = rows[:, :, None] * padded.shape[3] + columns[:, None, :]  # (B, H, W)
    flat = padded.flatten(2)
    return flat.gather(2, at.view(batch, 1, -1).expand(-1, channels, -1)).view_as(pictures)


def _places(numbers: Tensor, size: int, reach: int) -> Tensor:
    offset = (numbers * (2 * reach + 1)).long()
    return offset[:, None] + torch.arange(size, device=numbers.device)


def crop_box(draws: Tensor, height: int, width: int) -> tuple[int, int, int, int]:
    """Top, left, height and width of a random crop: 8 to 100 % of the area, 3:4 to 4:3, always inside.

    >>> crop_box(torch.full((8,), 0.999), 100, 100)
    (0, 0, 100, 100)
    """
    _, _, _, area, ratio, down, right, _ = (float(number) for number in draws)
    target = height * width * (0.08 + 0.92 * area)
    aspect = (3 / 4) * (16 / 9) ** ratio  # even on a logarithmic scale
    tall = min(height, max(1, round((target / aspect) ** 0.5)))
    wide = min(width, max(1, round((target * aspect) ** 0.5)))
    if area > 0.998:
        tall, wide = height, width
    return int(down * (height - tall + 1)), int(right * (width - wide + 1)), tall, wide
