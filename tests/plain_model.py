"""A user's own model without batch norm or dropout, whose gradients of parts add up to those of the whole."""

import os
import time
from pathlib import Path

from torch import Tensor, nn

from torchlore.recipes import checkpoint


class Plain(nn.Module):
    def __init__(self, classes: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, classes))

    def forward(self, pictures: Tensor) -> Tensor:
        return self.layers(pictures)


def build(classes: int) -> nn.Module:
    return Plain(classes)


def late(classes: int) -> nn.Module:
    """The same, where the first of several processes is slow to write its checkpoints."""
    if os.environ.get("RANK") == "0":
        link = checkpoint._link  # the disk is slow below everything that is tested

        def slowly(path: Path, name: Path) -> None:
            time.sleep(0.5)
            link(path, name)

        checkpoint._link = slowly
    return Plain(classes)


def pixels(classes: int) -> nn.Module:
    """A class for each pixel."""
    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, classes, 1))


def frames(classes: int) -> nn.Module:
    """For frames of 24 x 24 pixels."""
    return nn.Sequential(nn.Flatten(), nn.Linear(3 * 24 * 24, classes))
