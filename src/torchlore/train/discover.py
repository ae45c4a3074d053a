"""Open the data a run names, check all of it, and name every trouble before the first step."""

from __future__ import annotations

import csv
import re
import tarfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

import torch
from torch import Tensor

from torchlore.recipes._decode import SUFFIXES
from torchlore.recipes.data import BrokenImageError, PackedStrings, find_classes, list_images
from torchlore.train.files import Files, FolderReader, H5Reader, TarReader
from torchlore.train.run import Refused, Run
from torchlore.train.samples import Data, digits, stratified
from torchlore.train.scan import broken, twins

EMBEDDED = {"digits": digits}
PICTURES = {"jpg", "jpeg", "png", "webp", "bmp", "tif", "tiff", "gif", "ppm"}
TROUBLE = (ValueError, OSError, tarfile.TarError, csv.Error)  # what a file that is not what its name says raises
SPLITS = {"train": ("train", "training"), "val": ("val", "valid", "validation", "dev"), "test": ("test", "testing")}
WORDS = {word for words in SPLITS.values() for word in words}


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
        return split(list_data(Path(run.data), follow_links=run.follow_links), run, size)
    except TROUBLE as error:
        raise Refused(f"--data {run.data}: {error}") from None


def list_data(path: Path, *, follow_links: bool = False) -> Listed:
    """Every sample of a folder, manifest, HDF5 file or set of shards."""
    if path.suffix.lower() in (".csv", ".tsv", ".parquet"):
        return _manifest(path, follow_links)
    if path.suffix.lower() in (".h5", ".hdf5"):
        return _hdf5(path)
    if path.suffix.lower() == ".tar" or (path.is_dir() and any(path.glob("*.tar"))):
        return _shards(path)
    if not path.is_dir():
        if path.is_file():
            raise ValueError(
                "data is a folder of class folders, a .csv, .tsv or .parquet list, an .h5 file or .tar shards"
            )
        raise FileNotFoundError(f"there is no such folder or file, and the embedded sets are {', '.join(EMBEDDED)}")
    return _folders(path, follow_links)


def split_folder(path: Path, split: str) -> Path | None:
    """The folder of a split, whatever it is called."""
    return called(path, SPLITS[split])


def called(path: Path, words: Sequence[str]) -> Path | None:
    """The folder in a folder that has one of these names, in any case; the first of them."""
    found = {one.name.lower(): one for one in sorted(path.iterdir()) if one.is_dir()}
    return next((found[word] for word in words if word in found), None)


def _folders(path: Path, follow: bool) -> Listed:
    train = split_folder(path, "train")
    if train is None:
        samples, classes = list_images(path, follow_links=follow)
        refuse_splits(path, classes)
        folders, parts = {"": path}, [(one, "") for one in samples]
    else:
        classes = find_classes(train)  # one list for all splits: a class missing in one must not shift the rest
        folders = {name: folder for name in SPLITS if (folder := split_folder(path, name)) is not None}
        _refuse_strangers(path, train)
        parts = [(one, name) for name, folder in folders.items() for one in list_images(folder, classes, follow)[0]]
    names = [str(one.path.relative_to(path)) for one, _ in parts]
    found = _whole(path, names, classes, [one.label for one, _ in parts], [split for _, split in parts])
    lost = ((str(one.relative_to(path)), "beside the class folders") for one in _beside(folders.values()))
    return replace(found, skipped=(*found.skipped, *lost))


def _beside(folders: Iterable[Path]) -> list[Path]:
    """The pictures that lie beside the class folders, so that nobody knows their class."""
    files = (one for folder in folders for one in sorted(folder.iterdir()) if one.is_file())
    return [one for one in files if one.suffix.lower() in SUFFIXES and one.name[0] != "."]


def _refuse_strangers(path: Path, train: Path) -> None:
    """A folder beside `train` whose name is no split's would be left out in silence: a misspelt validation set."""
    strange = [
        one.name
        for one in sorted(path.iterdir())
        if one.is_dir() and one.name[0] != "." and one.name.lower() not in WORDS
    ]
    if strange:
        raise ValueError(
            f"the folder {strange[0]!r} beside {train.name!r} is no split; splits are {', '.join(sorted(WORDS))}"
        )


def refuse_splits(path: Path, classes: Sequence[str]) -> None:
    """A folder of folders that is called after a split, with no `train` beside it, would be learned as a class."""
    for name in classes:
        if WORDS.intersection(re.split(r"[\W_]+", name.lower())) and not any(
            one.is_file() and one.name[0] not in "._" for one in (path / name).iterdir()
        ):
            raise ValueError(
                f"{name!r} holds folders and is called like a split, and there is no folder 'train' beside it; "
                "name the splits train, val and test, with a folder for each class in each"
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


def _manifest(path: Path, follow: bool) -> Listed:
    rows = table_rows(path)
    if not rows:
        raise ValueError("the manifest is empty")
    missing = [name for name in ("path", "label") if name not in rows[0]]
    if missing:
        raise ValueError(f"the manifest has no column {missing[0]!r}; it has {', '.join(rows[0])}")
    names = [str(row["path"]) for row in rows]
    root = path.parent.resolve()
    for number, row in enumerate(rows, 2):
        check_inside(root, str(row["path"]), number, follow=follow)
        if row["label"] in (None, ""):
            raise ValueError(f"line {number}: {row['path']} has no label")
    classes = sorted({str(row["label"]) for row in rows}, key=_natural)
    splits = [known_split(str(row.get("split") or ""), number) for number, row in enumerate(rows, 2)]
    return _whole(root, names, classes, [classes.index(str(row["label"])) for row in rows], splits)


def check_inside(root: Path, name: str, number: int, *, follow: bool | None = None) -> None:
    """Refuse a manifest's line whose file is not there, or not below the manifest's folder unless links are followed."""
    if not follow and not (root / name).resolve().is_relative_to(root):
        hint = "" if follow is None else "; --follow-links allows it"
        raise ValueError(f"line {number}: {name} leads out of the manifest's folder{hint}")
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
        head = file.readline()
        file.seek(0)
        mark = "\t" if path.suffix.lower() == ".tsv" else ";" if "," not in head else ","  # some spreadsheets write ;
        table = csv.DictReader(file, delimiter=mark, skipinitialspace=True)
        table.fieldnames = [name.strip().lower() for name in table.fieldnames or ()]
        return list(table)


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
        Path(run.data).name,
        tuple(listed.classes),
        made["train"],
        made["val"],
        made["test"],
        3,
        side,
        listed.skipped,
        doubts=_doubts(Path(listed.open.root), made) if isinstance(listed.open, FolderReader) else (),
    )


def _doubts(root: Path, parts: dict[str, Files]) -> tuple[str, ...]:
    """Which files are in two splits, or under two classes, by what they hold."""
    entries = [
        (part.names[at], split, int(label)) for split, part in parts.items() for at, label in enumerate(part.labels)
    ]
    marks = twins(root, [name for name, _, _ in entries])
    groups: dict[str, list[tuple[str, str, int]]] = {}
    for entry in entries:
        if entry[0] in marks:
            groups.setdefault(marks[entry[0]], []).append(entry)
    said = []
    for held, known in (("val", "train"), ("test", "train"), ("test", "val")):
        seen = {mark: name for mark, group in groups.items() for name, split, _ in group if split == known}
        pairs = [(name, seen[marks[name]]) for name, split, _ in entries if split == held and marks.get(name) in seen]
        if pairs:
            said.append(f"{len(pairs)} of {held} are in {known} too, such as {pairs[0][0]} and {pairs[0][1]}")
    mixed = [g for g in groups.values() if len({label for _, _, label in g}) > 1]
    if mixed:
        other = next(name for name, _, label in mixed[0] if label != mixed[0][0][2])
        said.append(f"{len(mixed)} are under two classes, such as {mixed[0][0][0]} and {other}")
    return tuple(said)


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
        listed = list_data(Path(data), follow_links=run.follow_links)
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
