"""Samples of identities: pictures with the camera that took each, some of them queries and the rest the gallery."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import torch
from torch import Tensor

from torchlore.recipes.data import PackedStrings
from torchlore.train.augment import shift_and_flip
from torchlore.train.files import FolderReader, crop, resize
from torchlore.train.samples import Names, Samples


@dataclass(frozen=True)
class Pictures:
    """Whole pictures in files, brought to a square: the middle of a standing person has neither head nor feet."""

    names: PackedStrings
    labels: Tensor
    size: int
    augment: str
    open: FolderReader
    slow: ClassVar[bool] = True

    def read(self, indices: Sequence[int], draws: Tensor | None) -> Tensor:
        """The pictures at the run's size; in training moved, mirrored, or a random part of each."""
        opened = [self.open(self.names[index]) for index in indices]
        if draws is None or self.augment == "none":
            return torch.stack([resize(picture, self.size, self.size) for picture in opened])
        if self.augment == "crop":
            whole = torch.stack([crop(picture, row, self.size) for picture, row in zip(opened, draws, strict=True)])
        else:
            whole = torch.stack([resize(picture, self.size, self.size) for picture in opened])
        if self.augment == "shift":
            return shift_and_flip(whole, draws, flip=True)
        return torch.where(draws[:, 0, None, None, None] < 0.5, whole.flip(3), whole)

    def fetch(self, indices: Sequence[int], draws: Tensor | None) -> tuple[Tensor, Tensor]:
        """The pictures and their labels."""
        return self.read(indices, draws), self.labels[torch.as_tensor(indices)]

    def resized(self, size: int) -> Self:
        """The same files read at this size."""
        return replace(self, size=size)


@dataclass(frozen=True)
class Views:
    """A split to search in: which samples ask, and which camera took each."""

    samples: Samples
    identities: tuple[str, ...]  # by label
    cameras: Tensor  # (N,)
    lenses: tuple[str, ...]  # the cameras' names; empty where the data has none
    query: Tensor  # (N,) bool; the rest is the gallery

    @property
    def labels(self) -> Tensor:
        """(N,) the identity of each sample."""
        return self.samples.labels

    @property
    def names(self) -> Names:
        """What to call each sample."""
        return self.samples.names

    @property
    def slow(self) -> bool:
        """Whether reading is worth processes of its own."""
        return self.samples.slow

    def read(self, indices: Sequence[int], draws: Tensor | None) -> Tensor:
        """The pictures."""
        return self.samples.read(indices, draws)

    def fetch(self, indices: Sequence[int], draws: Tensor | None) -> tuple[Tensor, Tensor]:
        """The pictures and their labels."""
        return self.samples.fetch(indices, draws)

    def resized(self, size: int) -> Self:
        """The same samples read at this size."""
        return replace(self, samples=self.samples.resized(size))


def chosen(labels: Tensor, cameras: Tensor) -> Tensor:
    """Which samples ask where the data does not say: the first of each identity at each camera.

    An identity that would have nothing left to be found gives up its last question.

    >>> chosen(torch.tensor([0, 0, 0, 1, 1]), torch.tensor([0, 0, 1, 0, 1])).tolist()
    [True, False, True, True, False]
    """
    seen: set[tuple[int, int]] = set()
    asks: list[bool] = []
    rest: dict[int, int] = {}  # identity -> the sample that can be found, or the last one
    answered: set[int] = set()
    for at, (label, camera) in enumerate(zip(labels.tolist(), cameras.tolist(), strict=True)):
        fresh = (label, camera) not in seen
        seen.add((label, camera))
        asks.append(fresh)
        rest[label] = at
        if not fresh:
            answered.add(label)
    for label, at in rest.items():
        if label not in answered:
            asks[at] = False
    return torch.tensor(asks, dtype=torch.bool)


def unanswered(part: Views) -> Tensor:
    """The queries (indices) without a right picture in the gallery that another camera took."""
    places = torch.stack([part.labels, part.cameras if part.lenses else torch.arange(len(part.labels))], 1)
    by_identity: dict[int, set[int]] = {}
    for label, camera in places[~part.query].tolist():
        by_identity.setdefault(label, set()).add(camera)
    lonely = [
        at
        for at, (label, camera) in zip(
            part.query.nonzero().flatten().tolist(), places[part.query].tolist(), strict=True
        )
        if not by_identity.get(label, set()) - {camera}
    ]
    return torch.tensor(lonely, dtype=torch.long)
