"""Where samples come from: a split is its labels, its names, and a way to read some of them.

B samples, T frames, C channels, H x W pixels. Pictures stay uint8 until they are on the device: a quarter of the memory to move.
"""

from __future__ import annotations

import gzip
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Protocol, Self

import torch
from torch import Tensor

from torchlore.recipes.seed import derive


class Names(Protocol):
    """A list of names, however it is kept."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> str: ...


class Samples(Protocol):
    """One split of a data set."""

    @property
    def labels(self) -> Tensor:
        """(N,) class or identity of each sample; zeros where the truth is another one, such as a mask."""
        ...

    @property
    def names(self) -> Names:
        """What to call each sample in a report."""
        ...

    @property
    def slow(self) -> bool:
        """Whether reading is worth processes of its own."""
        ...

    def read(self, indices: Sequence[int], draws: Tensor | None) -> Tensor:
        """The pictures (B, C, H, W) or clips (B, T, C, H, W) uint8.

        `draws` (B, D) are the numbers their augmentation is a function of; None in evaluation.
        """
        ...

    def fetch(self, indices: Sequence[int], draws: Tensor | None) -> tuple[Tensor, Tensor]:
        """What `read` gives and the truth of each, augmented alike: labels (B,) or masks (B, H, W)."""
        ...

    def resized(self, size: int) -> Self:
        """The same samples read at this size; those held in memory keep theirs and are returned as they are."""
        ...


@dataclass(frozen=True)
class Data:
    """A data set: its splits, its classes, and what was left out on the way."""

    name: str
    classes: tuple[str, ...]
    train: Samples
    val: Samples
    test: Samples
    channels: int
    size: int
    skipped: tuple[tuple[str, str], ...] = field(default=())  # (file, why)
    frames: int = 1  # pictures a sample
    doubts: tuple[str, ...] = ()  # what makes its figures doubtful, a sentence each


@dataclass(frozen=True)
class Stored:
    """Pictures held in memory; a batch is one index_select."""

    pictures: Tensor  # (N, C, H, W) uint8
    labels: Tensor
    names: Names
    slow: ClassVar[bool] = False

    def read(self, indices: Sequence[int], draws: Tensor | None) -> Tensor:
        """The pictures, augmented together."""
        return self.fetch(indices, draws)[0]

    def fetch(self, indices: Sequence[int], draws: Tensor | None) -> tuple[Tensor, Tensor]:
        """The pictures, augmented together, and their labels."""
        from torchlore.train.augment import shift_and_flip

        device, at = self.pictures.device, torch.as_tensor(indices)
        picked, labels = self.pictures.index_select(0, sent(at, device)), self.labels.index_select(0, at)
        return picked if draws is None else shift_and_flip(picked, sent(draws, device)), sent(labels, device)

    def resized(self, size: int) -> Self:
        """Itself: what is in memory keeps its size."""
        del size
        return self


def sent(values: Tensor, device: torch.device) -> Tensor:
    """Values on a device, without waiting for what it still has to do."""
    return values if device.type == "cpu" else values.pin_memory().to(device, non_blocking=True)


def stratified(labels: Tensor, share: float, seed: int, purpose: str) -> tuple[Tensor, Tensor]:
    """Indices of the part kept and the part of each class split off, at least one sample of each class in both.

    >>> kept, off = stratified(torch.tensor([0, 0, 0, 0, 1, 1]), 0.25, 0, "val")
    >>> len(kept), sorted(torch.tensor([0, 0, 0, 0, 1, 1])[off].tolist())
    (4, [0, 1])
    """
    generator = torch.Generator().manual_seed(derive(seed, "split", purpose))
    kept, off = [], []
    for label in labels.unique(sorted=True):
        members = (labels == label).nonzero().flatten()
        members = members[torch.randperm(len(members), generator=generator)]
        cut = min(max(1, round(share * len(members))), len(members) - 1)
        off.append(members[:cut])
        kept.append(members[cut:])
    return torch.cat(kept).sort().values, torch.cat(off).sort().values


def digits(val: float, seed: int) -> Data:
    """scikit-learn's 1,797 real handwritten digits, 8 x 8; the test part is the same 360 for every seed."""
    table = _digits_table()
    pictures = (table[:, :-1].reshape(-1, 1, 8, 8) * 15.9375).round().to(torch.uint8)  # 0..16 -> 0..255
    labels = table[:, -1].long()
    rest, test = stratified(labels, 0.2, 0, "digits test")
    kept, held = stratified(labels[rest], val, seed, "val") if val > 0 else (torch.arange(len(rest)), rest[:0])
    parts = {"train": rest[kept], "val": rest[held] if val > 0 else held, "test": test}
    made = {name: Stored(pictures[at], labels[at], [f"digits/{i}" for i in at.tolist()]) for name, at in parts.items()}
    return Data("digits", tuple("0123456789"), made["train"], made["val"], made["test"], channels=1, size=8)


def photographs() -> list[Tensor]:
    """The two real photographs that scikit-learn carries, (3, 427, 640) uint8: a pagoda over a lake, and a dahlia."""
    from torchlore.recipes.data import decode_image

    return [decode_image(_carried("images", name)) for name in ("china.jpg", "flower.jpg")]


def _digits_table() -> Tensor:
    with gzip.open(_carried("data", "digits.csv.gz"), "rt", encoding="ascii") as file:
        return torch.tensor([[float(cell) for cell in line.split(",")] for line in file])


def _carried(*names: str) -> Path:
    """A file of scikit-learn's, found without importing it, which takes a second."""
    spec = importlib.util.find_spec("sklearn")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("the embedded examples come with scikit-learn", name="sklearn")
    return Path(spec.origin).parent.joinpath("datasets", *names)
