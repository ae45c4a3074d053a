"""Data sets that survive workers and bad files, orders that resume anywhere, and a loader that fits the machine."""

from __future__ import annotations

import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch.utils.data import Dataset

from torchlore.recipes import _wants
from torchlore.recipes._decode import MOST_PIXELS, SUFFIXES, BrokenImageError, decode_image
from torchlore.recipes._samplers import BalancedSampler, EpochBatches, Key, PKBatches, Seeded, permutation, shard
from torchlore.recipes.device import map_tensors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = [
    "BalancedSampler",
    "Broken",
    "BrokenImageError",
    "EpochBatches",
    "H5Dataset",
    "ImageFolder",
    "Key",
    "PKBatches",
    "PackedStrings",
    "Sample",
    "Seeded",
    "batch_bytes",
    "cpus",
    "decode_image",
    "find_broken",
    "find_classes",
    "list_images",
    "loader_options",
    "permutation",
    "shard",
    "shared_memory",
    "shared_memory_need",
]


class H5Dataset(Dataset[Any]):
    """Samples of an HDF5 file, opened once in every process that reads it.

    Works with any number of workers, forked or spawned, because the file is opened at the first sample that a process
    reads and never travels between processes. Two layouts are known: datasets whose first size is the number of
    samples, and the groups of the notes, one a sample (`0/data`, `0/target`, `1/data`, ...).

    Args (of the constructor):
        path: The file.
        fields: What makes a sample, in this order; by default all datasets of the file, or of its first group.
        transform: Applied to the first field.

    >>> import h5py, tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.h5"
    >>> with h5py.File(path, "w") as file:
    ...     file["data"], file["target"] = torch.arange(6).reshape(3, 2).numpy(), [7, 8, 9]
    >>> data = H5Dataset(path, ["data", "target"])
    >>> len(data), data[2]
    (3, (tensor([4, 5]), 9))
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        fields: Sequence[str] | None = None,
        transform: Callable[[Any], Any] | None = None,
    ) -> None:
        _wants.path("H5Dataset", path=path)
        if transform is not None:
            _wants.function("H5Dataset", transform=transform)
        wanted = None if fields is None else tuple(_wants.names("H5Dataset", fields=fields))
        if wanted == ():
            raise ValueError("H5Dataset: fields is empty; name at least one dataset, or leave it out for all.")
        self.path, self.transform = Path(path), transform
        if not self.path.is_file():
            raise FileNotFoundError(f"there is no HDF5 file {self.path}")
        self._file: Any = None
        self._columns: list[Any] = []  # open datasets: looking one up by name costs as much as reading a row
        self._owner = -1
        with self._open() as file:
            self.grouped = not any(_is_data(one) for one in file.values())
            self.names = sorted(file, key=_natural) if self.grouped else []
            self.fields = wanted or _fields(file, self.names)
            self.length = len(self.names) if self.grouped else self._count(file)
            _check_fields(file[self.names[0]] if self.names else file, self.fields, self.path)

    def _open(self) -> Any:
        import h5py

        try:
            return h5py.File(self.path, "r")
        except OSError as error:
            raise OSError(f"{self.path} is not a whole HDF5 file: {error}") from error

    def _count(self, file: Any) -> int:
        _check_fields(file, self.fields, self.path)
        counts = {name: len(file[name]) for name in self.fields}
        if len(set(counts.values())) != 1:
            raise ValueError(f"the fields of {self.path} differ in length: {counts}")
        return int(next(iter(counts.values())))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_file": None, "_columns": [], "_owner": -1}  # an open file cannot be sent to a worker

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> Any:
        if not -self.length <= index < self.length:
            raise IndexError(f"sample {index} of {self.path}, which has {self.length}")
        if self._owner != os.getpid():  # first sample here, or a handle inherited by a fork
            self._file, self._owner = self._open(), os.getpid()
            self._columns = [] if self.grouped else [self._file[name] for name in self.fields]
        index %= self.length
        if self.grouped:
            group = self._file[self.names[index]]
            values = [_value(group[name][()]) for name in self.fields]
        else:
            values = [_value(column[index]) for column in self._columns]
        if self.transform is not None:
            values[0] = self.transform(values[0])
        return values[0] if len(values) == 1 else tuple(values)


def _is_data(node: Any) -> bool:
    import h5py

    return isinstance(node, h5py.Dataset)


def _natural(name: str) -> tuple[int, int, str]:
    """Numbers by value, then texts: 2 before 10, as the notes' file was written."""
    return (0, int(name), "") if name.isdecimal() else (1, 0, name)


def _fields(file: Any, names: list[str]) -> tuple[str, ...]:
    if not len(file):
        raise ValueError(f"{file.filename} is empty")
    holder = file[names[0]] if names else file
    return tuple(name for name in holder if _is_data(holder[name]))


def _check_fields(holder: Any, fields: tuple[str, ...], path: Path) -> None:
    for name in fields:
        if name not in holder or not _is_data(holder[name]):
            raise KeyError(
                f"fields names {name!r}, but {path} has no such dataset in {holder.name}; it has {', '.join(holder)}"
            )
    if not fields:
        raise ValueError(f"{path} has no dataset in {holder.name}")


def _value(value: Any) -> Any:
    import numpy as np

    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        return torch.from_numpy(value.astype(value.dtype.newbyteorder("="), copy=False))
    return value.item() if isinstance(value, np.generic) else value


class PackedStrings:
    """A list of texts in two tensors, so that forked workers share it.

    A Python list is copied page by page into every worker, because looking at an element changes its reference count.

    >>> names = PackedStrings(["a/x.png", "b/y.png"]); len(names), names[1]
    (2, 'b/y.png')
    """

    def __init__(self, texts: Iterable[str]) -> None:
        parts = [os.fsencode(text) for text in _wants.several("PackedStrings", str, "a text", texts=texts)]
        self.ends = torch.tensor([len(part) for part in parts], dtype=torch.int64).cumsum(0)
        self.bytes = torch.frombuffer(bytearray(b"".join(parts) or b"\0"), dtype=torch.uint8)

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, index: int) -> str:
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        start = int(self.ends[index - 1]) if index else 0
        return os.fsdecode(self.bytes[start : int(self.ends[index])].numpy().tobytes())


@dataclass(frozen=True)
class Broken:
    """A file that gives no picture, and why."""

    path: Path
    reason: str


@dataclass(frozen=True)
class Sample:
    """One picture of a folder and its class."""

    path: Path
    label: int


def find_classes(root: str | os.PathLike[str]) -> list[str]:
    """List the class folders of a data set in order, or say what is wrong with them.

    Hidden folders are left out. Two names that differ only in case are an error: on another file system they are one.

    >>> import tempfile
    >>> root = Path(tempfile.mkdtemp()); (root / "cat").mkdir(); (root / "dog").mkdir()
    >>> find_classes(root)
    ['cat', 'dog']
    """
    _wants.path("find_classes", root=root)
    folder = Path(root)
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {folder}")
    names = sorted(one.name for one in folder.iterdir() if one.is_dir() and one.name[0] not in "._")
    if not names:
        raise ValueError(f"{folder} has no class folders; put the pictures of each class into a folder of its own")
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            raise ValueError(f"{folder} has two classes that differ only in case: {other} and {name}")
    return names


def list_images(
    root: str | os.PathLike[str],
    classes: Sequence[str] | None = None,
    follow_links: bool = False,
    suffixes: tuple[str, ...] = SUFFIXES,
) -> tuple[list[Sample], list[str]]:
    """List the pictures of a folder of class folders, at any depth below the class, in a fixed order.

    Args:
        root: The folder.
        classes: The names whose order makes the labels. Give those of the training set for every other split, or a
            class that is missing there shifts all labels behind it.
        follow_links: Follow links that lead out of the folder; without it such a link is an error.
        suffixes: The names' ends that are wanted: pictures', or `video.SUFFIXES`.

    Returns:
        The pictures and the classes.

    >>> import tempfile
    >>> root = Path(tempfile.mkdtemp()); (root / "cat").mkdir(); (root / "cat" / "1.png").touch()
    >>> list_images(root, classes=["cat", "dog"])[0][0].label
    0
    """
    _wants.path("list_images", root=root)
    if not isinstance(suffixes, tuple) or not suffixes:
        raise ValueError(_wants.message("list_images", "suffixes", suffixes, "a tuple of endings such as '.png'"))
    folder, present = Path(root), find_classes(root)
    names = present if classes is None else _wants.several("list_images", str, "a name", classes=classes)
    strange = [name for name in present if name not in names]
    if strange:
        raise ValueError(
            f"{folder} has the class {strange[0]!r}, which is not among the classes {', '.join(names[:9]) or names}"
        )
    found = [
        Sample(path, label)
        for label, name in enumerate(names)
        if name in present
        for path in _pictures(folder / name, folder, follow_links, suffixes)
    ]
    if classes is None:
        full = {one.label for one in found}
        if empty := [name for label, name in enumerate(names) if label not in full]:
            raise ValueError(f"the class {empty[0]!r} of {folder} has no {_what(suffixes)}")
    if not found:
        raise ValueError(f"{folder} holds no {_what(suffixes)}")
    return found, names


def _what(suffixes: tuple[str, ...]) -> str:
    if suffixes is SUFFIXES:
        return "pictures"
    return "videos" if ".mp4" in suffixes else f"files with the suffixes {', '.join(suffixes[:3])}"


def _pictures(folder: Path, root: Path, follow_links: bool, suffixes: tuple[str, ...]) -> list[Path]:
    inside, seen = root.resolve(), set()
    found = []
    for base, folders, files in os.walk(folder, followlinks=True):
        real = os.path.realpath(base)
        if real in seen:  # a link that leads back
            folders.clear()
            continue
        seen.add(real)
        folders[:] = sorted(one for one in folders if one[0] not in "._")
        for path in [Path(base, one) for one in sorted(files) if one[0] not in "._"]:
            if path.suffix.lower() not in suffixes:
                continue
            if not follow_links and not path.resolve().is_relative_to(inside):
                raise ValueError(f"{path} is a link that leads out of {root}; follow_links allows it")
            found.append(path)
    return found


def _problem(path: Path, most_pixels: int) -> Broken | None:
    try:
        decode_image(path, most_pixels=most_pixels)
    except BrokenImageError as error:
        return Broken(path, str(error))
    return None


def find_broken(
    paths: Iterable[str | os.PathLike[str]], *, most_pixels: int = MOST_PIXELS, threads: int | None = None
) -> list[Broken]:
    """Decode every picture once and name those that cannot be trusted.

    Args:
        paths: The files.
        most_pixels: A larger picture counts as broken.
        threads: How many at once; by default one a CPU.

    Returns:
        The broken ones in the order given.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.png"; path.touch()
    >>> [str(one.reason).endswith("is empty") for one in find_broken([path])]
    [True]
    """
    _wants.whole("find_broken", 1, most_pixels=most_pixels, threads=cpus() if threads is None else threads)
    files = [Path(one) for one in _wants.several("find_broken", (str, os.PathLike), "a path", paths=paths)]
    with ThreadPoolExecutor(threads or cpus()) as pool:
        results = pool.map(partial(_problem, most_pixels=most_pixels), files)
        return [one for one in results if one is not None]


class ImageFolder(Dataset[tuple[Any, int]]):
    """A folder of class folders, whose broken pictures are named before training and never silently replaced.

    `broken="skip"` decodes everything once at the start, leaves what fails out and lists it in `.broken`. With
    `broken="raise"` nothing is decoded ahead, and a bad file raises `BrokenImageError` with its name. A class without
    a single good picture is an error in both.

    >>> import tempfile; from PIL import Image
    >>> root = Path(tempfile.mkdtemp())
    >>> for name in ("cat", "dog"):
    ...     (root / name).mkdir(); Image.new("RGB", (4, 2)).save(root / name / "1.png")
    >>> data = ImageFolder(root)
    >>> len(data), data.classes, data[1][0].shape, data[1][1]
    (2, ['cat', 'dog'], torch.Size([3, 2, 4]), 1)
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        transform: Callable[[torch.Tensor], Any] | None = None,
        *,
        classes: Sequence[str] | None = None,
        broken: Literal["raise", "skip"] = "raise",
        follow_links: bool = False,
        most_pixels: int = MOST_PIXELS,
    ) -> None:
        _wants.one_of("ImageFolder", "broken", broken, ("raise", "skip"))
        _wants.whole("ImageFolder", 1, most_pixels=most_pixels)
        if transform is not None:
            _wants.function("ImageFolder", transform=transform)
        samples, self.classes = list_images(root, classes, follow_links)
        if len(self.classes) < 2:
            raise ValueError(f"{root} has the one class {self.classes[0]!r}; telling classes apart needs two")
        self.root, self.transform, self.most_pixels = Path(root), transform, most_pixels
        self.broken: list[Broken] = []
        if broken == "skip":
            self.broken = find_broken((one.path for one in samples), most_pixels=most_pixels)
            bad = {one.path for one in self.broken}
            good = [one for one in samples if one.path not in bad]
            self._check_left(samples, good)
            samples = good
        self.paths = PackedStrings(str(one.path.relative_to(root)) for one in samples)
        self.labels = torch.tensor([one.label for one in samples], dtype=torch.int64)

    def _check_left(self, samples: list[Sample], good: list[Sample]) -> None:
        lost = {one.label for one in samples} - {one.label for one in good}
        if lost:
            raise ValueError(
                f"no picture of the class {self.classes[min(lost)]!r} can be read: {self.broken[0].reason}"
            )

    def __len__(self) -> int:
        return len(self.paths)

    def path(self, index: int) -> Path:
        """Give the file of a sample."""
        return self.root / self.paths[index]

    def __getitem__(self, index: int) -> tuple[Any, int]:
        picture = decode_image(self.path(index), most_pixels=self.most_pixels)
        return (picture if self.transform is None else self.transform(picture)), int(self.labels[index])


def cpus(cgroup: str | os.PathLike[str] = "/sys/fs/cgroup") -> int:
    """Count the CPUs that this process may really use: the fewest of affinity and the container's quota.

    `os.cpu_count()` gives the host's CPUs also inside a container that may use two of them.

    Args:
        cgroup: Where the control groups are mounted.

    >>> 1 <= cpus() <= os.cpu_count()
    True
    """
    _wants.path("cpus", cgroup=cgroup)
    allowed = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    quota = _quota(Path(cgroup))
    return max(1, min(allowed, int(quota) if quota is not None else allowed))


def _quota(root: Path) -> float | None:
    new, old = root / "cpu.max", root / "cpu" / "cpu.cfs_quota_us"
    if new.is_file():
        share, period = new.read_text(encoding="ascii").split()
    elif old.is_file():
        share, period = (path.read_text(encoding="ascii").strip() for path in (old, old.with_name("cpu.cfs_period_us")))
    else:
        return None
    return None if share in {"max", "-1"} else int(share) / int(period)


def shared_memory(folder: str | os.PathLike[str] = "/dev/shm") -> int | None:
    """Give the free bytes of shared memory, through which workers hand over batches; None where there is no such limit.

    >>> shared_memory("/nowhere") is None
    True
    """
    _wants.path("shared_memory", folder=folder)
    return shutil.disk_usage(folder).free if Path(folder).is_dir() else None


def batch_bytes(batch: Any) -> int:
    """Add up the bytes of all tensors of a nested batch.

    >>> batch_bytes({"x": torch.zeros(2, 3), "y": [torch.zeros(2, dtype=torch.int64)]})
    40
    """
    sizes: list[int] = []
    map_tensors(batch, lambda leaf: sizes.append(leaf.nbytes if isinstance(leaf, torch.Tensor) else leaf.data.nbytes))
    return sum(sizes)


def shared_memory_need(size: int, workers: int, prefetch: int = 2) -> int:
    """Predict the shared memory that a loader fills at its peak: what is fetched ahead, and two batches in use.

    >>> shared_memory_need(1_000_000, workers=4)
    10000000
    """
    _wants.whole("shared_memory_need", 0, size=size, workers=workers)
    _wants.whole("shared_memory_need", 1, prefetch=prefetch)
    return (workers * prefetch + 2) * size if workers else 0


def loader_options(
    *,
    batch: Any = None,
    workers: int | None = None,
    ranks: int = 1,
    device: str | torch.device = "cpu",
    most_workers: int = 16,
) -> dict[str, Any]:
    """Choose DataLoader arguments for this machine.

    Workers come from the CPUs this process may use, shared between the ranks of a machine; their number falls until
    what they fetch ahead fits into half of the free shared memory. Pinning is on only where a copy to the device can
    use it.

    Args:
        batch: A sample batch, to predict the shared memory it needs.
        workers: Instead of choosing, check this number.
        ranks: Processes of this run on this machine.
        device: Where batches will go.
        most_workers: Never more than this.

    Returns:
        Keyword arguments for `DataLoader`.

    >>> loader_options(workers=0)
    {'num_workers': 0, 'pin_memory': False}
    """
    _wants.whole("loader_options", 0, most_workers=most_workers, workers=0 if workers is None else workers)
    _wants.whole("loader_options", 1, ranks=ranks)
    free, size = shared_memory(), batch_bytes(batch)
    chosen = min(max(cpus() // ranks, 1), most_workers) if workers is None else workers
    room = None if free is None else free // 2 // ranks
    while room is not None and shared_memory_need(size, chosen) > room:
        if workers is not None:
            need = shared_memory_need(size, chosen)
            raise ValueError(
                f"{chosen} workers need {need >> 20} MiB of shared memory and {room >> 20} MiB can be used: lower "
                "workers or the batch size, or start the container with a larger --shm-size"
            )
        chosen -= 1
    pin = torch.device(device).type == "cuda" and torch.cuda.is_available()
    options: dict[str, Any] = {"num_workers": chosen, "pin_memory": pin}
    return options | ({"persistent_workers": True, "prefetch_factor": 2} if chosen else {})
