"""How the pixels of a mask name classes: by number, or by colour through a table; read without a palette getting lost.

The table is `classes.csv` beside the folders, one line a class, with the column `name` and, if wanted, `value` (the
number in the masks; else the line's own, from 0) or `colour` (such as #804080; masks are then pictures in colours). A
class called `ignore` counts nowhere, as does the number 255 unless the table gives it to a class.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchlore.recipes._decode import MOST_PIXELS, BrokenImageError
from torchlore.train.segment.pairs import IGNORE, Colour

TABLE = "classes.csv"
MOST = 254  # classes that fit into a byte beside IGNORE and UNKNOWN
UNKNOWN = 254
NUMBERED = ("P", "L", "1", "I", "I;16", "I;16B")  # modes whose pixels are numbers


@dataclass(frozen=True)
class Codes:
    """The classes, what stands for each in a mask, and the colour to draw it with."""

    classes: tuple[str, ...]
    keys: tuple[int, ...]  # number, or 0xRRGGBB, of each class and then of what is ignored
    by_colour: bool
    colours: tuple[Colour, ...]

    def labels(self, raw: np.ndarray) -> Tensor:
        """Labels (H, W) uint8 of raw numbers (H, W); UNKNOWN for a number that stands for nothing."""
        order = np.argsort(self.keys)
        keys = np.array(self.keys)[order]
        names = np.full(len(keys), IGNORE, np.uint8)
        names[order < len(self.classes)] = order[order < len(self.classes)]
        at = np.searchsorted(keys, raw).clip(max=len(keys) - 1)
        return torch.from_numpy(np.where(keys[at] == raw, names[at], UNKNOWN).astype(np.uint8))

    def written(self, key: int) -> str:
        """A key as it would stand in the table."""
        return f"the colour #{key:06x}" if self.by_colour else f"the label {key}"


def read_raw(path: Path, *, by_colour: bool) -> tuple[np.ndarray, bytes]:
    """A mask's numbers (H, W), a palette's indices as they are, and the palette; or 0xRRGGBB where colours count."""
    image = _opened(path)
    if by_colour:
        colours = np.asarray(image.convert("RGB")).astype(np.int32)
        return (colours[..., 0] << 16) | (colours[..., 1] << 8) | colours[..., 2], b""
    if image.mode not in NUMBERED:
        raise ValueError(
            f"{path.name} is a mask in colours (mode {image.mode}): say what they mean in {TABLE}, a line "
            "`name,colour`, then one for each class such as `road,#804080`"
        )
    palette = bytes(image.getpalette() or ()) if image.mode == "P" else b""
    return np.asarray(image).astype(np.int32), palette


def _opened(path: Path) -> Any:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            size = image.width * image.height
            copy = image.copy() if size <= MOST_PIXELS else None
    except UnidentifiedImageError:
        raise BrokenImageError(f"{path.name} is not a picture") from None
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:  # a damaged file
        raise BrokenImageError(f"{path.name} is not a whole picture: {error}") from None
    if copy is None:
        raise BrokenImageError(f"{path.name} has {size} pixels, more than {MOST_PIXELS}")
    return copy


def read_table(path: Path) -> Codes:
    """The table, or ValueError with the line at fault."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = [{str(name).strip(): (cell or "").strip() for name, cell in row.items()} for row in csv.DictReader(file)]
    if not rows or "name" not in rows[0]:
        raise ValueError(f"{path.name} needs a column `name` and a line for each class")
    column = next((name for name in ("colour", "color", "value") if name in rows[0]), "")
    keys = [_key(path, number, row, column) for number, row in enumerate(rows)]
    if twice := [key for key in keys if keys.count(key) > 1]:
        raise ValueError(f"{path.name}: two classes have the {column or 'value'} {rows[keys.index(twice[0])][column]}")
    named = [(row["name"], key) for row, key in zip(rows, keys, strict=True) if row["name"].lower() != "ignore"]
    ignored = [key for row, key in zip(rows, keys, strict=True) if row["name"].lower() == "ignore"]
    by_colour = column in ("colour", "color")
    if not by_colour and IGNORE not in keys:
        ignored.append(IGNORE)
    colours = tuple((key >> 16, key >> 8 & 255, key & 255) for _, key in named) if by_colour else ()
    return _checked(tuple(name for name, _ in named), [key for _, key in named], ignored, colours, by_colour=by_colour)


def _key(path: Path, number: int, row: dict[str, str], column: str) -> int:
    if not column:
        return number
    cell = row[column]
    if column == "value" and cell.isdecimal():
        return int(cell)
    if column != "value" and re.fullmatch("#?[0-9a-fA-F]{6}", cell):
        return int(cell.lstrip("#"), 16)
    wanted = "a whole number" if column == "value" else "a colour such as #804080"
    raise ValueError(f"{path.name} line {number + 2}: {cell!r} is not {wanted}")


def _checked(
    classes: tuple[str, ...],
    keys: Sequence[int],
    ignored: Sequence[int],
    colours: tuple[Colour, ...],
    *,
    by_colour: bool,
) -> Codes:
    if not 2 <= len(classes) <= MOST:
        raise ValueError(f"the masks have {len(classes)} classes; telling them apart needs 2 to {MOST}")
    if len(set(classes)) < len(classes):
        raise ValueError(f"two classes are called {next(name for name in classes if classes.count(name) > 1)!r}")
    return Codes(classes, (*keys, *ignored), by_colour, colours or wheel(len(classes)))


def from_values(seen: set[int], palette: bytes) -> Codes:
    """Codes for masks without a table: the numbers in them, which must be 0, 1, 2 and so on."""
    if seen == {0, IGNORE}:
        raise ValueError(
            f"the masks hold only 0 and {IGNORE}, and {IGNORE} means that a pixel counts nowhere; if it is a class, "
            f"say so in {TABLE}: a line `name,value`, then `background,0` and `object,255`"
        )
    found = sorted(seen - {IGNORE})
    if found != list(range(len(found))):
        few = ", ".join(map(str, found[:8]))
        raise ValueError(f"the masks hold the labels {few}, which are not 0, 1, 2 …: name them in {TABLE} (name,value)")
    triples = [tuple(palette[3 * at : 3 * at + 3]) for at in range(len(found))]
    colours = tuple((t[0], t[1], t[2]) for t in triples if len(t) == 3)
    kept = colours if len(set(colours)) == len(found) else ()
    return _checked(tuple(map(str, found)), found, [IGNORE], kept, by_colour=False)


def wheel(count: int) -> tuple[Colour, ...]:
    """Colours to draw classes with: black for the first, then around the wheel, neighbours far apart."""
    import colorsys

    turns = ((number * 0.618034) % 1 for number in range(count - 1))
    drawn = (colorsys.hsv_to_rgb(turn, 0.75, 0.95) for turn in turns)
    return ((0, 0, 0), *((round(r * 255), round(g * 255), round(b * 255)) for r, g, b in drawn))
