"""Which videos there are, which of their frames can be used, and what is left out."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch.distributed as dist

from torchlore.recipes.data import cpus, find_classes, list_images
from torchlore.recipes.video import SUFFIXES, BrokenVideoError, indices_at, probe, readable
from torchlore.train.discover import SPLITS, refuse_splits, split_folder
from torchlore.train.group import World, led, world
from torchlore.train.scan import remembered

NEAR = 15  # neighbouring frames are a fifteenth of a second apart, whatever the rate


@dataclass(frozen=True)
class Video:
    """The frames of a video that can be used, at equal steps of time."""

    steps: int
    step: int  # how many steps make a fifteenth of a second
    shown: tuple[int, ...] = ()  # the frame on the screen at each step; nothing where it is the step's own number

    def frames(self, steps: Sequence[int]) -> list[int]:
        """The frames at some steps; before the first and behind the last it stays."""
        inside = [min(max(step, 0), self.steps - 1) for step in steps]
        return [self.shown[step] for step in inside] if self.shown else inside


@dataclass(frozen=True)
class Found:
    """Every video that can be used, and what was left out: whole files and the ends of cut ones."""

    names: list[str]
    classes: list[str]
    labels: list[int]
    splits: list[str]  # "" where the folders do not say
    videos: dict[str, Video]
    skipped: tuple[tuple[str, str], ...]


def find(path: Path, example: str, follow: bool = False) -> Found:
    """Every video of a folder of class folders, or of train, val and test folders of such folders."""
    if not path.is_dir():
        raise FileNotFoundError(f"there is no such folder, and the embedded set is {example}")
    train = split_folder(path, "train")
    if train is None:
        samples, classes = list_images(path, None, follow, SUFFIXES)
        refuse_splits(path, classes)
        parts = [(one, "") for one in samples]
    else:
        classes = find_classes(train)
        folders = {name: folder for name in SPLITS if (folder := split_folder(path, name)) is not None}
        parts = [(one, name) for name, at in folders.items() for one in list_images(at, classes, follow, SUFFIXES)[0]]
    names = [str(one.path.relative_to(path)) for one, _ in parts]
    videos, skipped = looked(path, names)
    kept = [(name, one, split) for name, (one, split) in zip(names, parts, strict=True) if name in videos]
    labels, splits = [one.label for _, one, _ in kept], [split for _, _, split in kept]
    return Found([name for name, _, _ in kept], classes, labels, splits, videos, skipped)


def looked(root: Path, names: list[str]) -> tuple[dict[str, Video], tuple[tuple[str, str], ...]]:
    """The videos by name, and why others, or parts of some, are left out; all are decoded once and remembered."""

    def look(fresh: list[str]) -> dict[str, Any]:
        if len(fresh) > 2000:
            print(f"decoding {len(fresh)} videos for the first time", file=sys.stderr)
        with ThreadPoolExecutor(cpus()) as pool:
            return dict(zip(fresh, pool.map(_look, [root / name for name in fresh]), strict=True))

    place = world() if dist.is_initialized() else World()  # of several processes one decodes
    said = led(place, lambda: remembered(root, names, "videos", look))
    videos = {name: Video(one[1], one[2], tuple(one[3])) for name, one in said.items() if one[1]}
    return videos, tuple((name, one[0]) for name, one in said.items() if one[0])


def _look(path: Path) -> tuple[str, int, int, list[int]]:
    """What is left out and why, and the parts of a `Video`: no steps where nothing can be used."""
    if path.stat().st_size == 0:
        return "the file is empty", 0, 0, []
    try:
        times, found = probe(path).times, readable(path)
    except BrokenVideoError as error:
        return str(error), 0, 0, []
    if not found.frames:
        return "no frame can be decoded", 0, 0, []
    lost = found.promised - len(found.frames)
    why = f"{lost} of {found.promised} frames cannot be decoded; the other {len(found.frames)} are used" if lost else ""
    video = even(times, found.frames)
    return why, video.steps, video.step, list(video.shown)


def even(times: Sequence[float], good: Sequence[int]) -> Video:
    """The good frames at equal steps of time, so that a rate that varies does not make a motion look faster.

    >>> even([0.0, 0.1, 0.2, 0.3], range(4))
    Video(steps=4, step=1, shown=())
    >>> even([0.0, 0.1, 0.2, 0.5], range(4)).shown
    (0, 1, 2, 2, 2, 3)
    """
    kept = [times[index] - times[good[0]] for index in good]
    gaps = [later - earlier for earlier, later in pairwise(kept)]
    usual = statistics.median(gaps) if gaps else 1.0
    if usual <= 0:  # times that do not rise say nothing
        return Video(len(good), 1, tuple(good))
    step = max(1, round(1 / (NEAR * usual)))
    if max(gaps, default=0.0) <= 1.5 * min(gaps, default=0.0) or not gaps:
        return Video(len(good), step, () if good[-1] == len(good) - 1 else tuple(good))
    steps = min(round(kept[-1] / usual) + 1, 10 * len(good))
    moments = [(at + 0.5) * (kept[-1] + usual) / steps for at in range(steps)]
    return Video(steps, step, tuple(good[at] for at in indices_at(kept, moments)))
