"""The embedded example: pieces of real photographs, each seen by four cameras.

The photographs are the two that scikit-learn carries. An identity is a square piece of one of them that has some
texture; no pixel belongs to two. A camera has its own colours, light, blur, angle and noise, and each of its pictures
is held a little differently. Identities of training, validation and test are different ones, and the test pictures are
the same for every seed.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from torchlore.recipes.seed import derive
from torchlore.train.embed.views import Views, chosen
from torchlore.train.samples import Data, Stored, photographs

PIECE, SIDE = 32, 24  # pixels of a piece and of a picture
TEXTURE = 14.0  # least deviation of the grey values of a piece
SHOTS = 4  # pictures by each camera
TESTED, VALIDATED = 60, 30  # identities


@dataclass(frozen=True)
class Camera:
    """How a camera changes what it sees; colours are 0 to 1."""

    name: str
    mix: tuple[tuple[float, float, float], ...]  # what each channel takes of red, green and blue
    lift: float  # light that is added everywhere
    gamma: float
    turn: float  # radians
    lean: tuple[float, float]  # perspective across and down
    blur: bool
    noise: float


GREY = (0.15, 0.35, 0.5)
CAMERAS = (
    Camera("day", ((1, 0, 0), (0, 1, 0), (0, 0, 1)), 0.0, 1.0, 0.0, (0.0, 0.0), blur=False, noise=0.01),
    Camera(
        "evening", ((0.9, 0.1, 0), (0.1, 0.5, 0), (0, 0.1, 0.3)), 0.0, 1.5, 0.3, (0.25, 0.0), blur=False, noise=0.04
    ),
    Camera(
        "fog", ((0.3, 0.1, 0), (0.05, 0.3, 0.05), (0, 0.1, 0.35)), 0.5, 1.0, -0.25, (0.0, 0.25), blur=True, noise=0.02
    ),
    Camera("night", (GREY, GREY, GREY), 0.05, 0.7, 0.1, (-0.2, -0.2), blur=False, noise=0.06),
)


def pieces(val: float, seed: int) -> Data:
    """The data set; without validation (`val` 0) those identities are trained on."""
    whole = torch.cat([textured(photograph) for photograph in photographs()])
    order = torch.randperm(len(whole), generator=torch.Generator().manual_seed(derive(0, "pieces test")))
    test, rest = order[:TESTED], order[TESTED:]
    rest = rest[torch.randperm(len(rest), generator=torch.Generator().manual_seed(derive(seed, "pieces val")))]
    held = rest[: VALIDATED if val > 0 else 0]
    train = rest[len(held) :].sort().values
    pictures, labels, _, names = _seen(whole, train, seed)
    val_part, test_part = _views(whole, held, seed), _views(whole, test, 0)
    classes = tuple(f"piece {number}" for number in train.tolist())
    return Data("pieces", classes, Stored(pictures, labels, names), val_part, test_part, channels=3, size=SIDE)


def textured(photograph: Tensor) -> Tensor:
    """The pieces (N, 3, PIECE, PIECE) of a photograph (3, H, W) that are not a flat sky; no two share a pixel."""
    tiles = photograph.unfold(1, PIECE, PIECE).unfold(2, PIECE, PIECE).permute(1, 2, 0, 3, 4).flatten(0, 1)
    return tiles[tiles.float().mean(1).flatten(1).std(1) > TEXTURE]


def _views(whole: Tensor, at: Tensor, seed: int) -> Views:
    pictures, labels, cameras, names = _seen(whole, at, seed)
    identities = tuple(f"piece {number}" for number in at.tolist())
    lenses = tuple(camera.name for camera in CAMERAS)
    return Views(Stored(pictures, labels, names), identities, cameras, lenses, chosen(labels, cameras))


def _seen(whole: Tensor, at: Tensor, seed: int) -> tuple[Tensor, Tensor, Tensor, list[str]]:
    """All pictures of some identities: them, their labels, cameras and names."""
    taken = [taken_by(camera, whole[at], derive(seed, "pieces", camera.name, len(at))) for camera in CAMERAS]
    pictures = torch.stack(taken, 1).flatten(0, 2)  # (I, cameras, SHOTS, 3, SIDE, SIDE), identity by identity
    labels = torch.arange(len(at)).repeat_interleave(len(CAMERAS) * SHOTS)
    cameras = torch.arange(len(CAMERAS)).repeat_interleave(SHOTS).repeat(len(at))
    names = [f"piece {i}/{camera.name}/{shot}" for i in at.tolist() for camera in CAMERAS for shot in range(SHOTS)]
    return pictures, labels, cameras, names


def taken_by(camera: Camera, scenes: Tensor, seed: int) -> Tensor:
    """What a camera makes of pieces (I, 3, PIECE, PIECE) uint8: (I, SHOTS, 3, SIDE, SIDE) uint8."""
    generator = torch.Generator().manual_seed(seed)
    count = len(scenes) * SHOTS
    repeated = scenes.repeat_interleave(SHOTS, 0).float() / 255
    if camera.blur:
        repeated = F.avg_pool2d(F.pad(repeated, (1, 1, 1, 1), mode="reflect"), 3, 1)
    held = torch.rand(count, 4, generator=generator) * 2 - 1  # turn, size, place across and down
    pictures = F.grid_sample(repeated, _grid(camera, held), padding_mode="reflection", align_corners=False)
    pictures = torch.einsum("oc,nchw->nohw", torch.tensor(camera.mix, dtype=torch.float32), pictures).clamp(0, 1)
    pictures = pictures**camera.gamma * (1 + 0.1 * (torch.rand(count, 1, 1, 1, generator=generator) * 2 - 1))
    pictures = pictures + camera.lift + camera.noise * torch.randn(pictures.shape, generator=generator)
    return (pictures.clamp(0, 1) * 255).round().to(torch.uint8).view(len(scenes), SHOTS, 3, SIDE, SIDE)


def _grid(camera: Camera, held: Tensor) -> Tensor:
    """Where each pixel of a picture comes from, (N, SIDE, SIDE, 2) in -1..1, for hands that shake by `held` (N, 4)."""
    angle, size = camera.turn + 0.15 * held[:, 0], 0.8 * (1 + 0.1 * held[:, 1])
    line = (torch.arange(SIDE) + 0.5) / SIDE * 2 - 1
    y, x = (one.expand(len(held), -1, -1) for one in torch.meshgrid(line, line, indexing="ij"))
    far = 1 + camera.lean[0] * x + camera.lean[1] * y
    x, y = x / far, y / far
    cos, sin = ((size * one)[:, None, None] for one in (angle.cos(), angle.sin()))
    across, down = (0.1 * held[:, place, None, None] for place in (2, 3))
    return torch.stack([cos * x - sin * y + across, sin * x + cos * y + down], 3)
