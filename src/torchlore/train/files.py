"""Pictures in files, HDF5 and tar shards, read when asked for: decode, crop, resize, uint8 out."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import torch
from torch import Tensor
from torch.nn import functional as F

from torchlore.recipes.data import BrokenImageError, PackedStrings, decode_image
from torchlore.train.augment import crop_box
from torchlore.train.jpegs import Packed, crop_region, middle_region, pack


@dataclass(frozen=True)
class Files:
    """Samples that lie in files; `open` turns a name into a picture (3, H, W) uint8."""

    names: PackedStrings
    labels: Tensor
    size: int
    augment: str
    open: Callable[[str], Tensor]
    decodes: str = ""  # the device that decodes plain JPEG files; "" where the reader does
    here: int = 0  # of every eight pictures, those that the reader decodes all the same
    slow: ClassVar[bool] = True

    def read(self, indices: Sequence[int], draws: Tensor | None) -> Tensor:
        """The pictures at the run's size: a random crop and flip in training, the middle otherwise."""
        rows = [None] * len(indices) if draws is None else list(draws)
        return torch.stack([self._one(index, row) for index, row in zip(indices, rows, strict=True)])

    def _one(self, index: int, row: Tensor | None) -> Tensor:
        picture = self.open(self.names[index])
        if row is None or self.augment == "none":
            return middle(picture, self.size)
        cut = crop(picture, row, self.size) if self.augment == "crop" else middle(picture, self.size)
        return cut.flip(2) if row[0] < 0.5 else cut

    def fetch(self, indices: Sequence[int], draws: Tensor | None) -> tuple[Tensor, Tensor]:
        """The pictures, or where a device decodes them what it needs for it, and their labels."""
        pictures: Any = self._packed(indices, draws) if self.decodes else self.read(indices, draws)
        return pictures, self.labels[torch.as_tensor(indices)]

    def _packed(self, indices: Sequence[int], draws: Tensor | None) -> Packed:
        assert isinstance(self.open, FolderReader | TarReader)
        files = [self.open.raw(self.names[index]) for index in indices]

        def cut(height: int, width: int, row: Tensor | None) -> Tensor:
            if row is None or self.augment != "crop":
                return middle_region(height, width, self.size)
            return crop_region(height, width, row, self.size)

        def read(at: int, row: Tensor | None) -> Tensor:
            return self._one(indices[at], row)

        return pack(read, files, draws, cut, self.size, self.decodes, self.here)

    def decoded_on(self, device: torch.device, here: int = 0) -> Files:
        """The same files, decoded by a device where it can, but for some of every eight."""
        known = isinstance(self.open, FolderReader | TarReader)
        return replace(self, decodes=str(device), here=here) if known else self

    def resized(self, size: int) -> Self:
        """The same files read at this size."""
        return replace(self, size=size)

    def part(self, at: Tensor) -> Files:
        """Some of the samples."""
        return replace(self, names=PackedStrings(self.names[i] for i in at.tolist()), labels=self.labels[at])


def crop(picture: Tensor, row: Tensor, size: int) -> Tensor:
    """A random part of the picture, resized."""
    top, left, height, width = crop_box(row, *picture.shape[1:])
    return resize(picture[:, top : top + height, left : left + width], size, size)


def middle(picture: Tensor, size: int) -> Tensor:
    """The middle square of the picture after its short side was made an eighth larger than the size."""
    _, height, width = picture.shape
    short = min(height, width)
    side = size + size // 8 if short > size else size
    scale = side / short
    larger = resize(picture, max(side, round(height * scale)), max(side, round(width * scale)))
    top, left = (larger.shape[1] - size) // 2, (larger.shape[2] - size) // 2
    return larger[:, top : top + size, left : left + size]


def resize(picture: Tensor, height: int, width: int) -> Tensor:
    """Bilinear with antialiasing, uint8 in and out, the same as Pillow's."""
    if picture.shape[1:] == (height, width):
        return picture
    return F.interpolate(picture[None], (height, width), mode="bilinear", antialias=True)[0]


@dataclass(frozen=True)
class FolderReader:
    """Names below a folder."""

    root: str

    def __call__(self, name: str) -> Tensor:
        """The picture of a name."""
        return decode_image(os.path.join(self.root, name))  # noqa: PTH118 - a Path a picture costs more than the join

    def raw(self, name: str) -> bytes:
        """The bytes of a name's file."""
        try:
            return Path(self.root, name).read_bytes()
        except OSError as error:
            raise BrokenImageError(f"{self.root}/{name} cannot be read: {error.strerror}") from None


@dataclass
class H5Reader:
    """Rows of one HDF5 dataset; each process opens the file itself, at its first picture."""

    path: str
    dataset: str
    handle: Any = field(default=None, repr=False)
    owner: int = 0

    def __call__(self, name: str) -> Tensor:
        """The picture of a row's number."""
        if self.owner != os.getpid():
            import h5py

            self.handle, self.owner = h5py.File(self.path, "r")[self.dataset], os.getpid()
        return as_rgb(torch.from_numpy(self.handle[int(name)]))

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "dataset": self.dataset, "handle": None, "owner": 0}


@dataclass(frozen=True)
class TarReader:
    """Members of tar files, found by the place of their bytes: `shard.tar:offset:length`."""

    root: str

    def __call__(self, name: str) -> Tensor:
        """The picture at a place in a shard."""
        return decode_image(self.raw(name))

    def raw(self, name: str) -> bytes:
        """The bytes at a place in a shard."""
        shard, offset, length = name.rsplit(":", 2)
        with Path(self.root, shard).open("rb") as file:
            file.seek(int(offset))
            return file.read(int(length))


def as_rgb(picture: Tensor) -> Tensor:
    """(H, W), (H, W, C) or (C, H, W) uint8 as (3, H, W)."""
    if picture.ndim == 2:
        picture = picture[None]
    elif picture.shape[-1] in (1, 3) and picture.shape[0] not in (1, 3):
        picture = picture.permute(2, 0, 1)
    return picture.expand(3, -1, -1) if picture.shape[0] == 1 else picture
