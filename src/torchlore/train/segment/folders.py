"""Pictures and their masks in folders or a manifest: found, paired, and every mask looked at before the first step."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchlore.recipes.data import BrokenImageError, PackedStrings, cpus, decode_image
from torchlore.train.discover import (
    PICTURES,
    SPLITS,
    TROUBLE,
    check_inside,
    known_split,
    refuse_strange,
    split_folder,
    table_rows,
)
from torchlore.train.run import Refused, Run
from torchlore.train.samples import Data, stratified
from torchlore.train.scan import broken
from torchlore.train.segment.codes import TABLE, UNKNOWN, Codes, from_values, read_raw, read_table
from torchlore.train.segment.pairs import Pairs
from torchlore.train.segment.shapes import shapes

IMAGES = ("images", "imgs", "JPEGImages")
MASKS = ("masks", "labels", "annotations", "SegmentationClass")
LOSSLESS = (".png", ".bmp", ".tif", ".tiff", ".gif")
WINDOW = 256
ORIENTATION = 0x0112  # of EXIF: above 4 the picture is shown on its side


@dataclass(frozen=True)
class Reader:
    """Names such as `images/a.jpg|masks/a.png` below a folder."""

    root: str
    codes: Codes

    def __call__(self, name: str) -> tuple[Tensor, Tensor]:
        """The picture (3, H, W) and its labels (H, W) of a name."""
        picture, _, mask = name.partition("|")
        labels = self.codes.labels(read_raw(Path(self.root, mask), by_colour=self.codes.by_colour)[0])
        if bool((labels == UNKNOWN).any()):
            raise BrokenImageError(f"{mask} changed: it holds a label that stands for no class")
        return decode_image(Path(self.root, picture)), labels


@dataclass(frozen=True)
class Found:
    """Every pair with its split, the codes of the masks, and what was left out."""

    root: Path
    names: Sequence[str]
    splits: Sequence[str]
    codes: Codes
    skipped: tuple[tuple[str, str], ...]


def open_data(run: Run, size: int = 0) -> Data:
    """The embedded shapes, or pictures and masks with their splits, or Refused with the file at fault."""
    if run.data == "shapes":
        return shapes(run.val, run.seed, run.size or size, run.augment)
    try:
        found = find(Path(run.data))
    except TROUBLE as error:
        raise Refused(f"--data {run.data}: {error}") from None
    everything = _pairs(found, run.size or size or WINDOW, run.augment)
    given = {name: _where(found, name) for name in SPLITS}
    rest = torch.cat([given["train"], _where(found, "")])
    parts = {}
    for name in ("test", "val"):
        parts[name] = given[name]
        if not len(given[name]) and run.val > 0:
            if len(rest) < 2:
                raise Refused(f"--data {run.data}: {len(rest)} pictures are too few to split some off for {name}")
            kept, off = stratified(torch.zeros(len(rest)), run.val, run.seed, name)
            rest, parts[name] = rest[kept], rest[off]
    if not len(rest):
        raise Refused(f"--data {run.data}: there is no picture to train on")
    train, val, test = (everything.part(at) for at in (rest, parts["val"], parts["test"]))
    return Data(Path(run.data).name, found.codes.classes, train, val, test, 3, everything.size, found.skipped)


def _where(found: Found, split: str) -> Tensor:
    return torch.tensor([at for at, word in enumerate(found.splits) if word == split], dtype=torch.long)


def _pairs(found: Found, size: int, augment: str) -> Pairs:
    reader = Reader(str(found.root), found.codes)
    return Pairs(PackedStrings(found.names), reader, size, augment, found.codes.colours)


def other_data(data: str, run: Run, state: dict[str, Any]) -> Data:
    """Pictures that the run has not seen, under its classes: their test or validation split, or all of them.

    Masks without a table of their own are read with the run's.
    """
    classes = tuple(state["classes"])
    if data == "shapes":
        found = shapes(run.val, run.seed, state["size"], "none")
        refuse_strange(data, found.classes, classes)
        return found
    try:
        own = find(Path(data), table(Path(run.data)) or _numbered(classes))
    except TROUBLE as error:
        raise Refused(f"{data}: {error}") from None
    refuse_strange(data, own.codes.classes, classes)
    if own.codes.classes != classes:
        raise Refused(f"{data}: its {TABLE} has the classes of the run in another order or lacks some: use the run's")
    split = next((name for name in ("test", "val") if name in own.splits), "")
    pairs = _pairs(own, state["size"], "none")
    pairs = pairs.part(_where(own, split)) if split else pairs
    return Data(Path(data).name, classes, pairs, pairs, pairs, 3, state["size"], own.skipped)


def _numbered(classes: tuple[str, ...]) -> Codes:
    seen = set(range(len(classes)))
    plain = from_values(seen, b"")
    return Codes(classes, plain.keys, plain.by_colour, plain.colours)


def table(path: Path) -> Codes | None:
    """The codes of a data set that has a table."""
    file = (path if path.is_dir() else path.parent) / TABLE
    return read_table(file) if file.is_file() else None


def find(path: Path, codes: Codes | None = None) -> Found:
    """Every pair of a folder or manifest, checked; ValueError with the file at fault."""
    root = path if path.is_dir() else path.parent.resolve()
    listed = _manifest(path) if path.suffix.lower() in (".csv", ".tsv", ".parquet") else _folders(path)
    codes = table(path) or codes
    bad = broken(root, [picture for picture, _, _ in listed])
    looked = _looked(root, [mask for _, mask, _ in listed], codes)
    bad |= {mask: one for mask, one in looked.items() if isinstance(one, str)}
    kept = [one for one in listed if not {one[0], one[1]} & bad.keys()]
    if not kept:
        raise ValueError("no pair of a picture and a mask can be read")
    known = {mask: one for mask, one in looked.items() if isinstance(one, Look)}
    if codes is None:
        seen = {value for one in known.values() for value in one.values}
        codes = from_values(seen, next((one.palette for one in known.values() if one.palette), b""))
    for picture, mask, _ in kept:
        _check(root, picture, mask, known[mask], codes)
    names, splits = [f"{picture}|{mask}" for picture, mask, _ in kept], [split for _, _, split in kept]
    return Found(root, names, splits, codes, tuple(bad.items()))


@dataclass(frozen=True)
class Look:
    """What one look at a mask tells."""

    height: int
    width: int
    values: frozenset[int]
    palette: bytes


def _looked(root: Path, masks: list[str], codes: Codes | None) -> dict[str, Look | str]:
    """Each mask read once; a reason for one that cannot be."""

    def look(mask: str) -> Look | str:
        try:
            raw, palette = read_raw(root / mask, by_colour=codes is not None and codes.by_colour)
        except BrokenImageError as error:
            return str(error)
        height, width = raw.shape
        return Look(height, width, frozenset(np.unique(raw).tolist()), palette)

    with ThreadPoolExecutor(cpus()) as pool:
        return dict(zip(masks, pool.map(look, masks), strict=True))


def _check(root: Path, picture: str, mask: str, look: Look, codes: Codes) -> None:
    height, width = _size(root / picture)
    if (height, width) != (look.height, look.width):
        raise ValueError(
            f"{mask} has {look.width} x {look.height} pixels and its picture {picture} {width} x {height}: "
            "a mask has a label for each pixel"
        )
    if strange := sorted(look.values - set(codes.keys)):
        known = f"{TABLE} does not name" if codes.by_colour else f"is none of the {len(codes.classes)} classes'"
        raise ValueError(f"{mask} holds {codes.written(strange[0])}, which {known}")


def _size(path: Path) -> tuple[int, int]:
    """Height and width of a picture as it is shown, from its header."""
    from PIL import Image

    with Image.open(path) as image:
        turned = image.getexif().get(ORIENTATION, 1) > 4
        return (image.width, image.height) if turned else (image.height, image.width)


def _folders(path: Path) -> list[tuple[str, str, str]]:
    if not path.is_dir():
        raise FileNotFoundError("there is no such folder or file, and the embedded set is shapes")
    parts = {name: folder for name in SPLITS if (folder := split_folder(path, name)) is not None} or {"": path}
    return [pair for split, folder in parts.items() for pair in _paired(path, folder, split)]


def _paired(root: Path, folder: Path, split: str) -> list[tuple[str, str, str]]:
    pictures, masks = (
        next((folder / name for name in names if (folder / name).is_dir()), None) for names in (IMAGES, MASKS)
    )
    if pictures is None or masks is None:
        missing = IMAGES[0] if pictures is None else MASKS[0]
        raise ValueError(f"{folder.name} has no folder {missing!r}: pictures go into images/, their masks into masks/")
    known = {one.relative_to(masks).with_suffix("").as_posix(): one for one in _files(masks, LOSSLESS)}
    found = []
    for picture in _files(pictures, tuple(f".{ending}" for ending in PICTURES)):
        stem = picture.relative_to(pictures).with_suffix("").as_posix()
        mask = known.get(stem) or known.get(f"{stem}_mask")
        if mask is None:
            expected = (masks / stem).with_suffix(".png").relative_to(root)
            raise ValueError(f"{picture.relative_to(root)} has no mask: expected {expected}")
        found.append((str(picture.relative_to(root)), str(mask.relative_to(root)), split))
    if not found:
        raise ValueError(f"{pictures.relative_to(root)} holds no pictures")
    return found


def _files(folder: Path, endings: tuple[str, ...]) -> list[Path]:
    found = sorted(one for one in folder.rglob("*") if one.suffix.lower() in endings and one.name[0] not in "._")
    root = folder.resolve()
    if out := [one for one in found if not one.resolve().is_relative_to(root)]:
        raise ValueError(f"{out[0].name} leads out of {folder.name}")
    return found


def _manifest(path: Path) -> list[tuple[str, str, str]]:
    lines = table_rows(path)
    if not lines:
        raise ValueError("the manifest is empty")
    if missing := [name for name in ("path", "mask") if name not in lines[0]]:
        raise ValueError(f"the manifest has no column {missing[0]!r}; it has {', '.join(lines[0])}")
    found = []
    for number, line in enumerate(lines, 2):
        for name in ("path", "mask"):
            check_inside(path.parent.resolve(), str(line[name]), number)
        found.append((str(line["path"]), str(line["mask"]), known_split(str(line.get("split") or ""), number)))
    return found
