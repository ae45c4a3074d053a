"""The pictures to run through a model: any layout that training reads, and folders without classes."""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import torch
from torch import Tensor

from torchlore.recipes._decode import SUFFIXES, BrokenImageError
from torchlore.recipes.data import cpus
from torchlore.train.discover import EMBEDDED, list_data
from torchlore.train.files import FolderReader, middle
from torchlore.train.run import Refused
from torchlore.train.samples import Stored

AHEAD = 3  # batches decoded while the model is busy


@dataclass(frozen=True)
class Pictures:
    """Names in a fixed order, the class of each where there is one, and the way to read them."""

    names: Sequence[str]
    labels: Sequence[str]
    open: Callable[[str], Tensor]  # (C, H, W) uint8
    channels: int
    size: int  # 0: the pictures do not say
    stamp: str  # changes when a file does


@dataclass(frozen=True)
class Loaded:
    """One batch: which rows could be read, their pictures, and why the others could not."""

    rows: list[int]
    pictures: Tensor  # (B, C, H, W) uint8
    broken: dict[str, str]


def list_pictures(data: str) -> Pictures:
    """Every picture of a folder, manifest, HDF5 file, set of shards or embedded set, or Refused."""
    path = Path(data)
    try:
        if data in EMBEDDED and not path.exists():
            return _embedded(data)
        if path.is_dir() and not any(path.glob("*.tar")):
            return _folder(path)
        listed = list_data(path)
    except (ValueError, OSError) as error:
        raise Refused(f"{data}: {error}") from None
    labels = [str(listed.classes[label]) for label in listed.labels]
    return Pictures(list(listed.names), labels, listed.open, 3, 0, _stamp(path, listed.names))


def _folder(path: Path) -> Pictures:
    names = list(_walk(path))
    if not names:
        raise ValueError(f"the folder holds no pictures ({', '.join(SUFFIXES)})")
    labels = [parent if (parent := PurePosixPath(name).parent.name) else "" for name in names]
    return Pictures(names, labels, FolderReader(str(path)), 3, 0, _stamp(path, names))


def _walk(path: Path) -> Iterator[str]:
    inside = path.resolve()
    for base, folders, files in os.walk(path):
        folders[:] = sorted(one for one in folders if one[0] not in "._")
        for one in [Path(base, name) for name in sorted(files) if name[0] not in "._"]:
            if one.suffix.lower() not in SUFFIXES:
                continue
            if one.is_symlink() and not one.resolve().is_relative_to(inside):
                raise ValueError(f"{one.relative_to(path)} leads out of the folder")
            yield one.relative_to(path).as_posix()


def _embedded(name: str) -> Pictures:
    data = EMBEDDED[name](0.0, 0)
    parts = [part for part in (data.train, data.val, data.test) if isinstance(part, Stored)]
    found = {
        part.names[at]: (part.pictures[at], data.classes[int(part.labels[at])])
        for part in parts
        for at in range(len(part.labels))
    }
    names = sorted(found, key=lambda one: int(one.rpartition("/")[2]))
    labels = [found[one][1] for one in names]
    return Pictures(names, labels, lambda one: found[one][0], data.channels, data.size, name)


def _stamp(path: Path, names: Sequence[str]) -> str:
    """A hash of names, sizes and times of change."""
    total = hashlib.sha256()
    root = path if path.is_dir() else path.parent
    if path.is_file():
        total.update(f"{path.stat().st_size} {path.stat().st_mtime_ns}".encode())
    for name in names:
        file = root / name
        stat = file.stat() if file.is_file() else None
        total.update(os.fsencode(f"{name} {stat.st_size} {stat.st_mtime_ns}\n" if stat else f"{name}\n"))
    return total.hexdigest()[:32]


def load(pictures: Pictures, jobs: Iterable[Sequence[int]], size: int) -> Iterator[Loaded]:
    """The pictures of each job in order, decoded by threads ahead of the one in use."""
    with ThreadPoolExecutor(cpus()) as pool:
        waiting: deque[tuple[Sequence[int], list[Future[Tensor | str]]]] = deque()
        try:
            for rows in jobs:
                waiting.append((rows, [pool.submit(_one, pictures, row, size) for row in rows]))
                if len(waiting) >= AHEAD:
                    yield _gather(pictures, *waiting.popleft())
            while waiting:
                yield _gather(pictures, *waiting.popleft())
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _one(pictures: Pictures, row: int, size: int) -> Tensor | str:
    try:
        return middle(pictures.open(pictures.names[row]), size)
    except BrokenImageError as error:
        return str(error)


def _gather(pictures: Pictures, rows: Sequence[int], futures: list[Future[Tensor | str]]) -> Loaded:
    read = [(row, future.result()) for row, future in zip(rows, futures, strict=True)]
    good = [(row, one) for row, one in read if isinstance(one, Tensor)]
    broken = {pictures.names[row]: one for row, one in read if isinstance(one, str)}
    stacked = torch.stack([one for _, one in good]) if good else torch.empty(0, pictures.channels, 1, 1)
    return Loaded([row for row, _ in good], stacked, broken)
