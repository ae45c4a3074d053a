"""Pictures with a label for each pixel, and the windows that training cuts out of them: picture and mask alike.

Windows have `size` x `size` pixels. A picture is interpolated when it is rescaled, a mask never: it keeps the label of
the nearest pixel. Where a window reaches over the edge, the picture is black and the mask says IGNORE.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor
from torch.nn import functional as F

from torchlore.recipes.data import PackedStrings
from torchlore.train.files import resize
from torchlore.train.samples import Names

IGNORE = 255  # the label of a pixel that counts nowhere
Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Pairs:
    """One split; `open` turns a name into a picture (3, H, W) and its mask (H, W), both uint8."""

    names: Names
    open: Callable[[str], tuple[Tensor, Tensor]]
    size: int
    augment: str
    colours: tuple[Colour, ...]  # to draw the classes with
    slow: bool = True

    @property
    def labels(self) -> Tensor:
        """(N,) zeros: the truth is the masks."""
        return torch.zeros(len(self.names), dtype=torch.long)

    def read(self, indices: Sequence[int], draws: Tensor | None) -> Tensor:
        """Windows (B, 3, size, size): as training sees them, or without draws the middle of each picture."""
        if draws is not None:
            return self.fetch(indices, draws)[0]
        return torch.stack([middle(*self.open(self.names[index]), self.size)[0] for index in indices])

    def fetch(self, indices: Sequence[int], draws: Tensor | None) -> tuple[Tensor, Tensor]:
        """Windows and their masks (B, size, size); without draws whole pictures, which must be of one size."""
        pairs = [self.open(self.names[index]) for index in indices]
        if draws is not None:
            pairs = [window(*pair, row, self.size, self.augment) for pair, row in zip(pairs, draws, strict=True)]
        return torch.stack([picture for picture, _ in pairs]), torch.stack([mask for _, mask in pairs])

    def resized(self, size: int) -> Self:
        """The same pictures, cut into windows of another size."""
        return replace(self, size=size)

    def part(self, at: Tensor) -> Self:
        """Some of the samples."""
        return replace(self, names=PackedStrings(self.names[i] for i in at.tolist()))


def window(picture: Tensor, mask: Tensor, row: Tensor, size: int, augment: str) -> tuple[Tensor, Tensor]:
    """One training window, a function of eight numbers in [0, 1).

    none: the middle. shift: anywhere. flip: anywhere, mirrored half the time. crop: also half to twice as large.
    """
    if augment == "none":
        return middle(picture, mask, size)
    flip, _, _, scale, _, down, right, _ = row.tolist()
    side = round(size / (0.5 * 4**scale)) if augment == "crop" else size  # even on a logarithmic scale
    picture, mask = grown(picture, mask, side)
    top, left = (int(number * (edge - side + 1)) for number, edge in zip((down, right), mask.shape, strict=True))
    picture, mask = cut(picture, mask, top, left, side)
    if side != size:
        picture, mask = resize(picture, size, size), nearest(mask, size, size)
    if flip < 0.5 and augment != "shift":
        picture, mask = picture.flip(2), mask.flip(1)
    return picture, mask


def middle(picture: Tensor, mask: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """The window in the middle."""
    picture, mask = grown(picture, mask, size)
    return cut(picture, mask, (mask.shape[0] - size) // 2, (mask.shape[1] - size) // 2, size)


def cut(picture: Tensor, mask: Tensor, top: int, left: int, side: int) -> tuple[Tensor, Tensor]:
    """A square out of both."""
    return picture[:, top : top + side, left : left + side], mask[top : top + side, left : left + side]


def grown(picture: Tensor, mask: Tensor, side: int) -> tuple[Tensor, Tensor]:
    """Both with edges of at least `side`, what is added around them black and IGNORE.

    >>> grown(torch.ones(3, 2, 4, dtype=torch.uint8), torch.ones(2, 4, dtype=torch.uint8), 4)[1].tolist()
    [[255, 255, 255, 255], [1, 1, 1, 1], [1, 1, 1, 1], [255, 255, 255, 255]]
    """
    height, width = (max(0, side - edge) for edge in mask.shape)
    if not height and not width:
        return picture, mask
    around = (width // 2, width - width // 2, height // 2, height - height // 2)
    return F.pad(picture, around), F.pad(mask, around, value=IGNORE)


def nearest(mask: Tensor, height: int, width: int) -> Tensor:
    """A mask (H, W) of another size, each pixel the label of the one that lies under its middle.

    >>> nearest(torch.tensor([[0, 7], [3, 255]], dtype=torch.uint8), 4, 4)[0].tolist()
    [0, 0, 7, 7]
    """
    rows, columns = (
        ((torch.arange(new) + 0.5) * (old / new)).long() for new, old in zip((height, width), mask.shape, strict=True)
    )
    return mask[rows[:, None], columns]
