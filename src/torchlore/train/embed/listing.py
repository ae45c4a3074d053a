"""Identities from folders or a manifest: found, split by identity, and everything that cannot work named at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from torchlore.recipes.data import PackedStrings, list_images
from torchlore.recipes.seed import derive
from torchlore.train.discover import SPLITS, TROUBLE, called, check_inside, table_rows
from torchlore.train.embed.pieces import pieces
from torchlore.train.embed.plan import refuse_batch
from torchlore.train.embed.views import Pictures, Views, chosen, unanswered
from torchlore.train.files import FolderReader
from torchlore.train.group import world
from torchlore.train.run import Refused, Run
from torchlore.train.samples import Data
from torchlore.train.scan import broken

EMBEDDED = {"pieces": pieces}
WORDS = SPLITS | {"query": ("query", "queries", "probe"), "gallery": ("gallery",)}


class Row(NamedTuple):
    """One picture."""

    name: str
    identity: str
    camera: str  # "" for all where the data has none
    split: str  # "" where the data does not say


@dataclass(frozen=True)
class Listing:
    """What was found, before it is split."""

    root: Path
    rows: Sequence[Row]
    skipped: tuple[tuple[str, str], ...] = ()

    def part(self, *splits: str) -> list[Row]:
        """The pictures of these splits."""
        return [row for row in self.rows if row.split in splits]


def open_data(run: Run, size: int = 0) -> Data:
    """The identities to learn from, and others to search for; Refused with the file or identity at fault."""
    try:
        data = (
            EMBEDDED[run.data](run.val, run.seed)
            if run.data in EMBEDDED
            else _divided(_listed(run.data, run.follow_links), run, size)
        )
        _check_training(data)
    except TROUBLE as error:
        raise error if isinstance(error, Refused) else Refused(f"--data {run.data}: {error}") from None
    refuse_batch(run, len(data.classes), world().size)
    if run.label_smoothing and "ce" not in run.loss:
        raise Refused(f"--label-smoothing does nothing for --loss {run.loss}: leave it out, or add +ce")
    return data


def other_data(data: str, run: Run, state: dict[str, Any]) -> Data:
    """Other identities to search for: the data's query and gallery, its test or validation split, or all of it."""
    classes, size = tuple(state["classes"]), state["size"]
    if data in EMBEDDED:
        found = EMBEDDED[data](run.val, run.seed).test
        return Data(data, classes, found, found, found, 3, size)
    try:
        listing = _listed(data, run.follow_links)
        words = next((word for word in (("query", "gallery"), ("test",), ("val",)) if listing.part(*word)), None)
        part = _views(listing.root, listing.part(*words) if words else list(listing.rows), size)
    except TROUBLE as error:
        raise Refused(f"{data}: {error}") from None
    return Data(Path(data).name, classes, part, part, part, 3, size, listing.skipped)


def _listed(data: str, follow: bool) -> Listing:
    path = Path(data)
    if path.suffix.lower() in (".csv", ".tsv", ".parquet"):
        root, rows = path.parent.resolve(), _manifest(path, follow)
    elif path.is_dir():
        root, rows = path, _folders(path, follow)
    elif path.exists():
        raise ValueError("identities come as a folder of folders or as a manifest (.csv, .tsv, .parquet)")
    else:
        raise FileNotFoundError(f"there is no such folder or file, and the embedded sets are {', '.join(EMBEDDED)}")
    without = next((row.name for row in rows if not row.camera), None)
    if without is not None and any(row.camera for row in rows):
        raise ValueError(f"{without} has no camera, and others have: give one to each picture, or to none")
    bad = broken(root, [row.name for row in rows])
    return Listing(root, [row for row in rows if row.name not in bad], tuple(bad.items()))


def _folders(path: Path, follow: bool) -> list[Row]:
    """A folder for each identity, in it perhaps one for each camera; all that perhaps in a folder for each split."""
    folders = {split: folder for split, words in WORDS.items() if (folder := called(path, words)) is not None}
    if not folders.keys() & {"train", "query", "gallery"}:
        folders = {"": path}
    rows = []
    for split, folder in folders.items():
        samples, identities = list_images(folder, follow_links=follow)
        for one in samples:
            below = one.path.relative_to(folder).parts
            camera = below[1] if len(below) > 2 else ""
            rows.append(Row(str(one.path.relative_to(path)), identities[one.label], camera, split))
    return rows


def _manifest(path: Path, follow: bool) -> list[Row]:
    table = table_rows(path)
    if not table:
        raise ValueError("the manifest is empty")
    missing = [name for name in ("path", "label", "camera") if name not in table[0]]
    if missing:
        hint = "; where no camera tells pictures apart, leave its cells empty" if missing[0] == "camera" else ""
        raise ValueError(f"the manifest has no column {missing[0]!r}; it has {', '.join(table[0])}{hint}")
    root = path.parent.resolve()
    rows = []
    for number, cells in enumerate(table, 2):
        name, label, camera, word = (_cell(cells, column) for column in ("path", "label", "camera", "split"))
        check_inside(root, name, number, follow=follow)
        split = next((split for split, words in WORDS.items() if word.lower() in words), "")
        if word and not split:
            raise ValueError(f"line {number}: the split {word!r} is not train, val, test, query or gallery")
        if not label:
            raise ValueError(f"line {number}: {name} has no label")
        rows.append(Row(name, label, camera, split))
    return rows


def _cell(row: dict[str, str], column: str) -> str:
    value = row.get(column)
    return "" if value is None else str(value).strip()


def _divided(listing: Listing, run: Run, size: int) -> Data:
    """The three splits: the data's own, or parts of its identities."""
    side = run.size or size or 224
    rest = listing.part("train", "")
    _refuse_single(rest)
    given = {"test": listing.part("query", "gallery") or listing.part("test"), "val": listing.part("val")}
    for name, part in given.items():
        if not part and run.val > 0:
            rest, given[name] = _split_off(rest, run, name)
    classes, labels = _numbered([row.identity for row in rest])
    names = PackedStrings(row.name for row in rest)
    train = Pictures(names, labels, side, run.augment, FolderReader(str(listing.root)))
    val, test = (_views(listing.root, given[name], side) for name in ("val", "test"))
    return Data(Path(run.data).name, classes, train, val, test, 3, side, listing.skipped)


def _split_off(rest: list[Row], run: Run, name: str) -> tuple[list[Row], list[Row]]:
    """The pictures that stay, and those of a random part of the identities."""
    identities = sorted({row.identity for row in rest})
    count = max(2, round(run.val * len(identities)))
    if len(identities) < count + 2:
        raise ValueError(
            f"{len(identities)} identities ({', '.join(identities[:8])}) are too few to take {count} for {name} and leave "
            f"2 to train on: give more, a split {name!r} of its own, or --val 0"
        )
    generator = torch.Generator().manual_seed(derive(run.seed, "identities", name))
    off = {identities[at] for at in torch.randperm(len(identities), generator=generator)[:count].tolist()}
    return [row for row in rest if row.identity not in off], [row for row in rest if row.identity in off]


def _numbered(words: Sequence[str]) -> tuple[tuple[str, ...], Tensor]:
    """The different words in order, and the number of each."""
    names = sorted(set(words), key=lambda word: (int(word), "") if word.isdecimal() else (1 << 62, word))
    numbers = {name: number for number, name in enumerate(names)}
    return tuple(names), torch.tensor([numbers[word] for word in words], dtype=torch.long)


def _views(root: Path, rows: list[Row], size: int) -> Views:
    """A part of the data to search in; an empty one where there is none."""
    identities, labels = _numbered([row.identity for row in rows])
    lenses, cameras = _numbered([row.camera for row in rows])
    splits = {row.split for row in rows}
    if splits & {"query", "gallery"}:
        query = torch.tensor([row.split == "query" for row in rows])
        _check_search(splits, identities, labels, query)
    else:
        query = chosen(labels, cameras)
    files = Pictures(PackedStrings(row.name for row in rows), labels, size, "none", FolderReader(str(root)))
    part = Views(files, identities, cameras, () if lenses == ("",) else lenses, query)
    if rows and len(unanswered(part)) == int(query.sum()):
        other, advice = (
            (" by another camera", "leave the cameras out") if part.lenses else ("", "give 2 pictures of an identity")
        )
        raise ValueError(f"no query, such as {rows[0].name}, has a right picture{other} in the gallery: {advice}")
    return part


def _check_search(splits: set[str], identities: tuple[str, ...], labels: Tensor, query: Tensor) -> None:
    if splits != {"query", "gallery"}:
        raise ValueError(f"there are pictures of the split {splits.pop()!r} only: a search needs query and gallery")
    if lost := set(labels[query].tolist()) - set(labels[~query].tolist()):
        name = identities[min(lost)]
        raise ValueError(f"the query identity {name!r} is not in the gallery: add it there, or take it out of query")


def _check_training(data: Data) -> None:
    if len(data.classes) < 2:
        only = f"only one identity to train on, {data.classes[0]}" if data.classes else "no identity to train on"
        raise ValueError(f"there is {only}: telling identities apart needs two")


def _refuse_single(rest: list[Row]) -> None:
    count = Counter(row.identity for row in rest)
    if single := [identity for identity in sorted(count) if count[identity] == 1]:
        raise ValueError(
            f"the identity {single[0]!r} has 1 picture to train on; a triplet needs 2: add one or take it out"
        )
