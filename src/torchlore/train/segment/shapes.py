"""The embedded example: discs, squares, triangles and crosses over real photographs, their masks exact.

The photographs are the two that scikit-learn carries. Training sees their left parts and the shapes that the run's seed
gives; validation and test see strips that training never does, and the test pictures are the same for every seed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from torchlore.recipes.seed import derive
from torchlore.train.samples import Data, photographs
from torchlore.train.segment.pairs import Pairs

CLASSES = ("background", "disc", "square", "triangle", "cross")
COLOURS = ((0, 0, 0), (230, 60, 50), (60, 120, 230), (250, 190, 40), (60, 180, 90))
SIDE, WINDOW = 64, 48  # of a picture, and of the windows it is cut into
COUNTS = {"train": 600, "val": 60, "test": 100}
STRIPS = {"train": (0.0, 0.6), "val": (0.6, 0.78), "test": (0.78, 1.0)}  # of a photograph's width


@dataclass(frozen=True)
class Memory:
    """Pictures and masks in memory; the number at the end of a name is the row."""

    pictures: Tensor  # (N, 3, H, W) uint8
    masks: Tensor  # (N, H, W) uint8

    def __call__(self, name: str) -> tuple[Tensor, Tensor]:
        """The pair of a name."""
        row = int(name.rpartition("/")[2])
        return self.pictures[row], self.masks[row]


def shapes(val: float, seed: int, size: int, augment: str) -> Data:
    """The data set; without validation (`val` 0) its pictures are left out."""
    counts = COUNTS if val > 0 else COUNTS | {"val": 0}
    made = {
        split: _split(split, count, 0 if split == "test" else seed, size or WINDOW, augment)
        for split, count in counts.items()
    }
    return Data("shapes", CLASSES, made["train"], made["val"], made["test"], channels=3, size=size or WINDOW)


def _split(split: str, count: int, seed: int, size: int, augment: str) -> Pairs:
    generator = torch.Generator().manual_seed(derive(seed, "shapes", split))
    strips = [_strip(photograph, *STRIPS[split]) for photograph in photographs()]
    pairs = [_picture(strips, generator) for _ in range(count)]
    pictures = torch.stack([picture for picture, _ in pairs]) if pairs else torch.empty(0, 3, SIDE, SIDE)
    masks = torch.stack([mask for _, mask in pairs]) if pairs else torch.empty(0, SIDE, SIDE)
    names = [f"shapes/{split}/{row}" for row in range(count)]
    return Pairs(names, Memory(pictures, masks), size, augment, COLOURS, slow=False)


def _strip(photograph: Tensor, start: float, end: float) -> Tensor:
    width = photograph.shape[2]
    return photograph[:, :, round(start * width) : round(end * width)]


def _patch(strips: list[Tensor], generator: torch.Generator) -> Tensor:
    which, down, right = torch.rand(3, generator=generator).tolist()
    strip = strips[int(which * len(strips))]
    top, left = (int(at * (edge - SIDE + 1)) for at, edge in zip((down, right), strip.shape[1:], strict=True))
    return strip[:, top : top + SIDE, left : left + SIDE].float()


def _picture(strips: list[Tensor], generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """A darkened patch with one to three shapes, each a light colour laid over another patch; later ones cover earlier."""
    picture = 0.55 * _patch(strips, generator)
    mask = torch.zeros(SIDE, SIDE, dtype=torch.uint8)
    for _ in range(1 + int(3 * torch.rand((), generator=generator))):
        kind, *place = torch.rand(5, generator=generator).tolist()
        label = 1 + int(kind * (len(CLASSES) - 1))
        inside = _inside(label, *place)
        colour = 130 + 125 * torch.rand(3, 1, 1, generator=generator)
        picture = torch.where(inside, 0.9 * colour + 0.1 * _patch(strips, generator), picture)
        mask[inside] = label
    return picture.round().to(torch.uint8), mask


def _inside(label: int, down: float, right: float, large: float, turn: float) -> Tensor:
    """(SIDE, SIDE) whether the middle of each pixel lies inside the shape."""
    radius = SIDE * (0.13 + 0.12 * large)
    at = torch.arange(SIDE) + 0.5
    y = (at - SIDE * (0.1 + 0.8 * down))[:, None]
    x = (at - SIDE * (0.1 + 0.8 * right))[None, :]
    angle = 0.3 * (turn - 0.5)  # radians: nearly upright
    u, v = x * math.cos(angle) + y * math.sin(angle), y * math.cos(angle) - x * math.sin(angle)
    if label == 1:
        return u * u + v * v < radius * radius
    if label == 2:
        return (u.abs() < 0.85 * radius) & (v.abs() < 0.85 * radius)
    if label == 3:
        return (v > -0.5 * radius) & (v + math.sqrt(3) * u.abs() < radius)
    arm = 0.32 * radius
    return ((u.abs() < arm) & (v.abs() < radius)) | ((v.abs() < arm) & (u.abs() < radius))
