"""Pictures with masks over them: the truth, what was said, and where they differ; the masks' strength can be changed."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torchlore.report.confusion import packed
from torchlore.report.page import text

Colour = tuple[int, int, int]
WRONG: tuple[Colour, ...] = ((0, 0, 0), (255, 0, 80))


@dataclass(frozen=True)
class Panel:
    """One picture and its three masks of one byte a pixel."""

    name: str
    score: float
    photo: str  # a data: address
    width: int
    height: int
    truth: bytes
    said: bytes
    wrong: bytes  # 1 where they differ


def mask_png(labels: bytes, width: int, height: int, colours: Sequence[Colour]) -> str:
    """Labels as an indexed PNG in a data: address; black ones and those without a colour are see-through."""
    rows = b"".join(b"\0" + labels[row * width : (row + 1) * width] for row in range(height))
    palette = b"".join(bytes(colour) for colour in colours).ljust(768, b"\0")
    clear = bytes(255 if any(palette[3 * at : 3 * at + 3]) else 0 for at in range(256))
    return packed(
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", palette),
        (b"tRNS", clear),
        (b"IDAT", zlib.compress(rows, 9)),
        (b"IEND", b""),
    )


def gallery(panels: Iterable[Panel], names: Sequence[str], colours: Sequence[Colour]) -> str:
    """A row for each picture, and what the colours mean."""
    drawn = "".join(_panel(panel, colours) for panel in panels)
    if not drawn:
        return ""
    keys = " ".join(
        f'<span class="key"><i style="background:rgb{tuple(colour)}"></i>{text(name)}</span>'
        for name, colour in zip(names, colours, strict=True)
    )
    strength = '<label>masks <input type="range" id="strength" min="0" max="100" value="55"></label>'
    return f'<p class="keys">{keys} {strength}</p><div class="overlays">{drawn}</div>'


def _panel(panel: Panel, colours: Sequence[Colour]) -> str:
    masks = (("truth", panel.truth, colours), ("said", panel.said, colours), ("different", panel.wrong, WRONG))
    layers = "".join(
        f'<div><div class="layers"><img src="{text(panel.photo)}" alt="" loading="lazy"><img class="mask" '
        f'src="{mask_png(mask, panel.width, panel.height, used)}" alt="{title}"></div><span class="dim">{title}</span></div>'
        for title, mask, used in masks
    )
    caption = f"<figcaption><b>mIoU {panel.score:.1%}</b> <code>{text(panel.name)}</code></figcaption>"
    return f"<figure>{layers}{caption}</figure>"
