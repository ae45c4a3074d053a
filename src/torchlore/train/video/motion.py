"""The embedded example: real digits in motion, as real MP4 files; the class is the motion.

Position and angle of a digit are even over all values at every moment of every class, so a single frame says nothing
about its class: whoever is right more often than by chance has seen the order of frames.
"""

from __future__ import annotations

import shutil
import tempfile
from itertools import count
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

from torchlore import keep
from torchlore.recipes.seed import derive
from torchlore.train.run import Refused
from torchlore.train.samples import Stored, digits

NAME = "motion"
VERSION = 1  # of the folder's name: one more where the videos change
SIDE, FRAMES, RATE = 24, 24, 15  # pixels, frames, frames a second
CLIPS = {"train": 200, "test": 50}  # of each class
MOTIONS = {  # right, down, turn clockwise
    "up": (0, -1, 0),
    "down": (0, 1, 0),
    "left": (-1, 0, 0),
    "right": (1, 0, 0),
    "clockwise": (0, 0, 1),
    "counterclockwise": (0, 0, -1),
}
SLOWEST, FASTEST = (0.8, 8.0), (2.0, 16.0)  # pixels a frame, degrees a frame


def example() -> Path:
    """The folder of the example's videos, made at its first use: whole or not at all."""
    folder = keep.folder() / f"{NAME}-{VERSION}"
    if folder.is_dir():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f"{folder.name}-", suffix=".part", dir=folder.parent))
    except OSError as error:
        raise Refused(
            f"the videos of --data {NAME} cannot be written to {folder.parent} ({error.strerror}): set XDG_CACHE_HOME"
        ) from None
    try:
        make(partial)
        partial.rename(folder)
    except OSError:
        if not folder.is_dir():  # else another process was faster
            raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return folder


def make(root: Path) -> None:
    """Write the videos: split, class, number. Those to test on show digits that no other shows."""
    data, generator = digits(0.0, 0), torch.Generator().manual_seed(derive(0, NAME, VERSION))
    for split, shown in (("train", data.train), ("test", data.test)):
        assert isinstance(shown, Stored)
        order = iter(torch.randperm(len(shown.pictures), generator=generator).tolist())
        for motion, number in ((motion, number) for number in range(CLIPS[split]) for motion in MOTIONS):
            path = root / split / motion / f"{number:03}.mp4"
            path.parent.mkdir(parents=True, exist_ok=True)
            encode(path, moved(shown.pictures[next(order)], motion, generator))


def moved(digit: Tensor, motion: str, generator: torch.Generator) -> Tensor:
    """A digit (1, 8, 8) uint8 in motion, (FRAMES, SIDE, SIDE) uint8; what leaves on one side comes in on the other."""
    place, start, pace = torch.rand(2, generator=generator), *torch.rand(2, generator=generator).tolist()
    right, down, turn = MOTIONS[motion]
    speeds = [low + pace * (high - low) for low, high in zip(SLOWEST, FASTEST, strict=True)]
    time = torch.arange(FRAMES, dtype=torch.float32)
    angle = torch.deg2rad(360 * start + turn * speeds[1] * time)
    axis = torch.arange(SIDE, dtype=torch.float32)
    across, along = (
        (axis - (SIDE * place[i] + way * speeds[0] * time)[:, None] + SIDE / 2) % SIDE - SIDE / 2
        for i, way in enumerate((right, down))
    )  # (FRAMES, SIDE) each: how far a column, a row is from the middle of the digit
    x, y = across[:, None, :], along[:, :, None]
    cos, sin = angle.cos()[:, None, None], angle.sin()[:, None, None]
    grid = torch.stack((cos * x + sin * y, cos * y - sin * x), -1) / 7  # the digit is 14 pixels wide
    pictures = digit.float().expand(FRAMES, 1, 8, 8)
    return F.grid_sample(pictures, grid, align_corners=False)[:, 0].round().to(torch.uint8)


def encode(path: Path, frames: Tensor, rate: int = RATE) -> None:
    """Write grey frames (T, H, W) uint8 as H.264, or as MPEG-4 where FFmpeg comes without it."""
    import av

    found = "libx264" in av.codecs_available
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264" if found else "mpeg4", rate=rate)
        stream.height, stream.width, stream.pix_fmt = *frames.shape[1:], "yuv420p"
        stream.codec_context.thread_count = 1
        stream.options = {"crf": "12", "preset": "veryfast"} if found else {"qscale": "2"}
        for number, picture in zip(count(), frames, strict=False):
            frame = av.VideoFrame.from_ndarray(picture.numpy(), format="gray")
            frame.pts = number
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
