"""Clips of videos: which frames, cut how. T frames a clip, V views of a video, S pixels a side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Self

import torch
from torch import Tensor

from torchlore.recipes.data import BrokenImageError, PackedStrings
from torchlore.recipes.video import BrokenVideoError, read_frames, segment_indices
from torchlore.train.augment import shift_and_flip
from torchlore.train.files import crop, resize
from torchlore.train.video.videos import Video

GREY = (77, 150, 29)  # of 256: how bright red, green and blue are


@dataclass(frozen=True)
class Clips:
    """Samples that are videos; a clip is one picture of each of `frames` equal parts of the video.

    A picture is a frame in colour, or if `stacked` a frame and its two neighbours in grey as its three channels: then
    the order in time is a colour, which any image network can see.
    """

    names: PackedStrings
    labels: Tensor
    root: str
    videos: tuple[Video, ...]
    size: int
    augment: str
    frames: int
    stacked: bool
    clips: int = 1  # in evaluation: clips of a video, whose frames lie between each other's
    crops: int = 1  # and parts of each clip along its longer side
    slow: ClassVar[bool] = True

    def read(self, indices: Sequence[int], draws: Tensor | None) -> Tensor:
        """Clips (B, V * T, 3, S, S) uint8; in training one view of random frames, the same augmentation for all."""
        rows = [None] * len(indices) if draws is None else list(draws)
        return torch.stack([self._one(index, row) for index, row in zip(indices, rows, strict=True)])

    def fetch(self, indices: Sequence[int], draws: Tensor | None) -> tuple[Tensor, Tensor]:
        """The clips and their labels."""
        return self.read(indices, draws), self.labels[torch.as_tensor(indices)]

    def resized(self, size: int) -> Self:
        """The same videos read at this size."""
        return replace(self, size=size)

    def viewed(self, clips: int, crops: int) -> Clips:
        """The same videos, each as several clips and several parts of them."""
        return replace(self, clips=clips, crops=crops)

    def _one(self, index: int, row: Tensor | None) -> Tensor:
        video = self.videos[index]
        if row is not None:
            pictures = self._pictures(index, segment_indices(video.steps, self.frames, own_generator(row)))
            return augmented(pictures, row, self.size, self.augment)
        steps = segment_indices(video.steps, self.frames * self.clips)
        pictures = self._pictures(index, steps)
        clips = [pictures[first :: self.clips] for first in range(self.clips)]
        ends = [at / (self.crops - 1) for at in range(self.crops)] if self.crops > 1 else [0.5]
        return torch.cat([window(clip, self.size, end) for clip in clips for end in ends])

    def _pictures(self, index: int, steps: list[int]) -> Tensor:
        """(len(steps), 3, H, W) uint8, the short side a little longer than the size."""
        video, name = self.videos[index], self.names[index]
        near = (-video.step, 0, video.step) if self.stacked else (0,)
        wanted = video.frames([step + offset for step in steps for offset in near])
        side = 2 * self.size if self.augment == "crop" else self.size + self.size // 8
        try:
            frames = read_frames(Path(self.root, name), wanted, short="repeat", side=side)
        except (BrokenVideoError, IndexError, FileNotFoundError) as error:  # it was whole when it was looked at
            raise BrokenImageError(f"{name}: {error}") from None
        return stacked(frames) if self.stacked else frames


def own_generator(row: Tensor) -> torch.Generator:
    """The sample's own source of random numbers, from the spare one of those that were drawn for it."""
    return torch.Generator().manual_seed(int(row[7] * 2**24))


def stacked(frames: Tensor) -> Tensor:
    """Frames (3 * T, 3, H, W) as T pictures whose channels are three frames in grey.

    >>> stacked(torch.tensor([10, 20, 30], dtype=torch.uint8).view(3, 1, 1, 1).expand(3, 3, 2, 2))[0, :, 0, 0].tolist()
    [10, 20, 30]
    """
    weights = torch.tensor(GREY, dtype=torch.int32).view(3, 1, 1)
    grey = (frames.int() * weights).sum(1) >> 8
    return grey.to(torch.uint8).view(-1, 3, *grey.shape[1:])


def augmented(pictures: Tensor, row: Tensor, size: int, how: str) -> Tensor:
    """All pictures (T, 3, H, W) of a clip changed alike. Only `flip` mirrors: it turns a motion to the left around."""
    if how == "crop":
        return crop(pictures.flatten(0, 1), row, size).view(-1, 3, size, size)
    cut = window(pictures, size, 0.5)
    if how == "shift":
        return shift_and_flip(cut.flatten(0, 1)[None], row[None]).view(-1, 3, size, size)
    return cut.flip(3) if how == "flip" and row[0] < 0.5 else cut


def window(pictures: Tensor, size: int, at: float) -> Tensor:
    """The square of pictures (T, 3, H, W) at 0, start, to 1, end, of the longer side; in the middle of the other."""
    height, width = pictures.shape[2:]
    short = min(height, width)
    side = size + size // 8 if short > size else size
    tall, wide = (max(side, round(extent * side / short)) for extent in (height, width))
    larger = resize(pictures.flatten(0, 1), tall, wide).view(-1, 3, tall, wide)
    down, right = (at, 0.5) if tall > wide else (0.5, at)
    top, left = int(down * (tall - size)), int(right * (wide - size))
    return larger[:, :, top : top + size, left : left + size]
