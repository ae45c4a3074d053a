"""Open the data a run names, check all of it, and name every trouble before the first step."""

from __future__ import annotations

import csv
import tarfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

import torch
from torch import Tensor

from torchlore.recipes.data import BrokenImageError, PackedStrings, find_classes, list_images
from torchlore.train.files import Files, FolderReader, H5Reader, TarReader
from torchlore.train.run import Refused, Run
from torchlore.train.samples import Data, digits, stratified
from torchlore.train.scan import broken

EMBEDDED = {"digits": digits}
PICTURES = {"jpg", "jpeg", "png", "webp", "bmp", "tif", "tiff", "gif", "ppm"}
TROUBLE = (ValueError, OSError, tarfile.TarError, csv.Error)  # what a file that is not what its name says raises
SPLITS = {"train": ("train", "training"), "val": ("val", "valid", "validation", "dev"), "test": ("test", "testing")}


@dataclass(frozen=True)
class Listed:
    """What was found, before it is split: a name, a class and, where the data says so, a split of each sample."""

    names: Sequence[str]
    classes: Sequence[str]
    labels: Sequence[int]
    splits: Sequence[str]  # "" where the data does not say
    open: Callable[[str], Tensor]
    skipped: tuple[tuple[str, str], ...] = ()


def open_data(run: Run, size: int = 0) -> Data:
    """The data set with its splits, or Refused with the file or class at fault."""
    if run.data in EMBEDDED:
        return EMBEDDED[run.data](run.val, run.seed)
    try:
        return split(list_data(Path(run.data)), run, size)
    except TROUBLE as error:
        raise Refused(f"--data {run.data}: {error}") from None


def list_data(path: Path) -> Listed:
    """Every sample of a folder, manifest, HDF5 file or set of shards."""
    if path.suffix.lower() in (".csv", ".tsv", ".parquet"):
        return _manifest(path)
    if path.suffix.lower() in (".h5", ".hdf5"):
        return _hdf5(path)
    if path.suffix.lower() == ".tar" or (path.is_dir() and any(path.glob("*.tar"))):
        return _shards(path)
    if not path.is_dir():
        raise FileNotFoundError(f"there is no such folder or file, and the embedded sets are {', '.join(EMBEDDED)}")
    return _folders(path)


def split_folder(path: Path, split: str) -> Path | None:
    """The folder of a split, whatever it is called."""
    return next((path / name for name in SPLITS[split] if (path / name).is_dir()), None)


def _folders(path: Path) -> Listed:
    train = split_folder(path, "train")
    if train is None:
        samples, classes = list_images(path)
        parts = [(one, "") for one in samples]
    else:
        classes = find_classes(train)  # one list for all splits: a class missing in one must not shift the rest
        folders = {name: folder for name in SPLITS if (folder := split_folder(path, name)) is not None}
        _refuse_strangers(path, train)
        parts = [(one, name) for name, folder in folders.items() for one in list_images(folder, classes)[0]]
    names = [str(one.path.relative_to(path)) for one, _ in parts]
    return _whole(path, names, classes, [one.label for one, _ in parts], [split for _, split in parts])


def _refuse_strangers(path: Path, train: Path) -> None:
    """A folder beside `train` whose name is no split's would be left out in silence: a misspelt validation set."""
    known = {word for words in SPLITS.values() for word in words}
    strange = [
        one.name for one in sorted(path.iterdir()) if one.is_dir() and one.name[0] != "." and one.name not in known
    ]
    if strange:
        raise ValueError(
            f"the folder {strange[0]!r} beside {train.name!r} is no split; splits are {', '.join(sorted(known))}"
        )


def _whole(path: Path, names: list[str], classes: Sequence[str], labels: list[int], splits: list[str]) -> Listed:
    """The samples whose pictures can be read; the others are named."""
    bad = broken(path, names)
    kept = [at for at, name in enumerate(names) if name not in bad]
    return Listed(
        [names[i] for i in kept],
        classes,
        [labels[i] for i in kept],
        [splits[i] for i in kept],
        FolderReader(str(path)),
        tuple(bad.items()),
    )


def _manifest(path: Path) -> Listed:
    rows = table_rows(path)
    if not rows:
        raise ValueError("the manifest is empty")
    missing = [name for name in ("path", "label") if name not in rows[0]]
    if missing:
        raise ValueError(f"the manifest has no column {missing[0]!r}; it has {', '.join(rows[0])}")
    names = [str(row["path"]) for row in rows]
    root = path.parent.resolve()
    for number, name in enumerate(names, 2):
        check_inside(root, name, number)
    classes = sorted({str(row["label"]) for row in rows}, key=_natural)
    splits = [known_split(str(row.get("split") or ""), number) for number, row in enumerate(rows, 2)]
    return _whole(root, names, classes, [classes.index(str(row["label"])) for row in rows], splits)


def check_inside(root: Path, name: str, number: int) -> None:
    """Refuse a manifest's line whose file is not there or not below the manifest's folder."""
    if not (root / name).resolve().is_relative_to(root):
        raise ValueError(f"line {number}: {name} leads out of the manifest's folder")
    if not (root / name).is_file():
        raise ValueError(f"line {number}: there is no file {name}")


def _natural(name: str) -> tuple[int, str]:
    return (int(name), "") if name.isdigit() else (1 << 62, name)


def table_rows(path: Path) -> list[dict[str, str]]:
    """The lines of a CSV, TSV or Parquet file."""
    if path.suffix.lower() == ".parquet":
        from pyarrow import parquet

        found: list[dict[str, str]] = parquet.read_table(path).to_pylist()
        return found
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t" if path.suffix.lower() == ".tsv" else ","))


def known_split(word: str, number: int) -> str:
    """The split a word in a manifest's line means."""
    found = next((split for split, words in SPLITS.items() if word.lower() in words), "")
    if word and not found:
        raise ValueError(f"line {number}: the split {word!r} is not train, val or test")
    return found


def _hdf5(path: Path) -> Listed:
    import h5py

    with h5py.File(path, "r") as file:
        names = [
            next((name for name in wanted if name in file), "")
            for wanted in (("images", "data", "x"), ("labels", "targets", "y"))
        ]
        if "" in names:
            raise ValueError(f"the file needs datasets `images` and `labels`; it has {', '.join(file)}")
        pictures, labels = file[names[0]], torch.from_numpy(file[names[1]][:]).long()
        if len(pictures) != len(labels) or pictures.dtype != "uint8":
            raise ValueError(
                f"`{names[0]}` must be uint8 with one picture a label; it is {pictures.dtype} of shape {pictures.shape} for {len(labels)} labels"
            )
        classes = (
            [str(name.decode() if isinstance(name, bytes) else name) for name in file["classes"]]
            if "classes" in file
            else [str(c) for c in range(int(labels.max()) + 1)]
        )
    if int(labels.min()) < 0 or int(labels.max()) >= len(classes):
        raise ValueError(f"labels run from {int(labels.min())} to {int(labels.max())} for {len(classes)} classes")
    rows = [str(row) for row in range(len(labels))]
    return Listed(rows, classes, labels.tolist(), [""] * len(rows), H5Reader(str(path), names[0]))


def _shards(path: Path) -> Listed:
    root, shards = (path.parent, [path]) if path.suffix == ".tar" else (path, sorted(path.glob("*.tar")))
    pictures: dict[str, str] = {}
    words: dict[str, str] = {}
    for shard in shards:
        with tarfile.open(shard, "r:") as tar:
            for member in tar:
                key, dot, suffix = PurePosixPath(member.name).name.partition(".")
                key = f"{shard.name}/{PurePosixPath(member.name).parent / key}"
                if suffix.lower() in PICTURES:
                    pictures[key] = f"{shard.name}:{member.offset_data}:{member.size}"
                elif dot and suffix in ("cls", "txt"):
                    file = tar.extractfile(member)
                    words[key] = file.read(1000).decode(errors="replace").strip() if file else ""
    if lost := sorted(pictures.keys() - words.keys()):
        raise ValueError(f"{lost[0]} has a picture but no .cls file")
    classes = sorted(set(words.values()), key=_natural)
    reader = TarReader(str(root))
    bad = {key: why for key, place in sorted(pictures.items()) if (why := _why(reader, place))}
    keys = sorted(pictures.keys() - bad.keys())
    splits = [next((s for s, names in SPLITS.items() if key.split("-")[0].split("/")[0] in names), "") for key in keys]
    labels = [classes.index(words[key]) for key in keys]
    return Listed([pictures[key] for key in keys], classes, labels, splits, reader, tuple(bad.items()))


def _why(reader: TarReader, place: str) -> str:
    """Why a picture of a shard cannot be read; empty if it can."""
    try:
        reader(place)
    except BrokenImageError as error:
        return str(error)
    return ""


def split(listed: Listed, run: Run, size: int) -> Data:
    """The three splits: the data's own, or stratified parts of what it has."""
    labels = torch.tensor(listed.labels, dtype=torch.long)
    _refuse_classes(listed, labels)
    side = run.size or size or 224
    whole = Files(PackedStrings(listed.names), labels, side, run.augment, listed.open)
    given = {
        name: torch.tensor([i for i, word in enumerate(listed.splits) if (word or "train") == name], dtype=torch.long)
        for name in SPLITS
    }
    rest = given["train"]
    parts = {}
    for name in ("test", "val"):
        if len(given[name]) or run.val == 0:
            parts[name] = given[name]
            continue
        kept, off = stratified(labels[rest], run.val, run.seed, name)
        rest, parts[name] = rest[kept], rest[off]
    made = {name: whole.part(at) for name, at in parts.items()} | {"train": whole.part(rest)}
    return Data(
        Path(run.data).name, tuple(listed.classes), made["train"], made["val"], made["test"], 3, side, listed.skipped
    )


def _refuse_classes(listed: Listed, labels: Tensor) -> None:
    if len(listed.classes) < 2:
        raise ValueError(
            f"there is only one class, {', '.join(map(str, listed.classes))}: telling classes apart needs two"
        )
    training = [label for label, word in zip(listed.labels, listed.splits, strict=True) if (word or "train") == "train"]
    count = Counter(training)
    least = min(range(len(listed.classes)), key=lambda label: count[label])
    if count[least] == 0:
        raise ValueError(f"the class {listed.classes[least]!r} has nothing to train on that can be read")
    if count[least] < 3 and not any(listed.splits):
        raise ValueError(
            f"the class {listed.classes[least]!r} has {count[least]} samples; splitting off validation and test needs 3"
        )
    held = {label for label, word in zip(listed.labels, listed.splits, strict=True) if word == "val"}
    if held and (lacks := [name for label, name in enumerate(listed.classes) if label not in held]):
        raise ValueError(
            f"the validation part has nothing of the class {lacks[0]!r} that can be read: the best weights would be chosen without it. "
            "Add some, or take that part away and --val splits it off"
        )
    assert len(labels) == len(listed.names)


def other_data(data: str, run: Run, state: dict[str, Any]) -> Data:
    """Data that the run has not seen, under the run's classes: its test or validation split, or all of it."""
    classes = tuple(state["classes"])
    if data in EMBEDDED:
        embedded = EMBEDDED[data](run.val, run.seed)
        refuse_strange(data, embedded.classes, classes)
        return replace(embedded, classes=classes)
    try:
        listed = list_data(Path(data))
    except TROUBLE as error:
        raise Refused(f"{data}: {error}") from None
    refuse_strange(data, listed.classes, classes)
    samples = _samples(listed, classes, state["size"])
    if not len(samples.labels):
        raise Refused(f"{data} holds no picture that can be read")
    return Data(Path(data).name, classes, samples, samples, samples, 3, state["size"], listed.skipped)


def _samples(listed: Listed, classes: tuple[str, ...], size: int) -> Files:
    split = next((name for name in ("test", "val") if name in listed.splits), "")
    labels = torch.tensor([classes.index(listed.classes[label]) for label in listed.labels], dtype=torch.long)
    files = Files(PackedStrings(listed.names), labels, size, "none", listed.open)
    return files.part(torch.tensor([i for i, word in enumerate(listed.splits) if not split or word == split]))


def refuse_strange(data: str, found: Sequence[str], classes: tuple[str, ...]) -> None:
    """Refused if other data has a class that the run does not know."""
    if strange := [name for name in found if name not in classes]:
        raise Refused(f"{data} has the class {strange[0]!r}, which the run does not know; it knows {few(classes)}")


def few(names: Sequence[str]) -> str:
    """The first eight names, and how many more there are."""
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
