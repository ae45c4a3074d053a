"""The confusion matrix to click through, and the pictures of the worst mistakes."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torchlore.report.page import text


@dataclass(frozen=True)
class Mistake:
    """One sample the model got wrong."""

    name: str
    truth: int
    said: int
    confidence: float
    picture: str  # a data: address


def matrix(counts: Sequence[Sequence[int]], names: Sequence[str]) -> str:
    """Rows are the truth, columns what was said; a click on a cell shows its mistakes in the gallery."""
    head = "".join(f"<th>{text(name)}</th>" for name in names)
    rows = "".join(_row(index, row, names) for index, row in enumerate(counts))
    return f'<div class="wide"><table class="matrix"><thead><tr><th>truth \\ said</th>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _row(truth: int, row: Sequence[int], names: Sequence[str]) -> str:
    total = max(1, sum(row))
    cells = "".join(
        f'<td data-cell="{truth}-{said}" title="{text(names[truth])} called {text(names[said])}" '
        f'style="background:color-mix(in srgb, var({"--c" if said == truth else "--a"}) {60 * count / total:.0f}%, transparent)">{count or ""}</td>'
        for said, count in enumerate(row)
    )
    return f"<tr><th>{text(names[truth])}</th>{cells}</tr>"


def gallery(mistakes: Iterable[Mistake], names: Sequence[str]) -> str:
    """The mistakes as pictures, with what they are and what they were called."""
    figures = "".join(
        f'<figure data-pair="{one.truth}-{one.said}"><img src="{text(one.picture)}" alt="{text(one.name)}" loading="lazy">'
        f"<figcaption><b>{text(names[one.truth])}</b> called <b>{text(names[one.said])}</b> ({one.confidence:.0%})<br><code>{text(one.name)}</code></figcaption></figure>"
        for one in mistakes
    )
    return f'<p id="gallery-note" class="dim"></p><div class="gallery">{figures}</div>' if figures else ""


def png(pixels: bytes, width: int, height: int, channels: int) -> str:
    """Pixels (height, width, channels) of one byte each as a PNG in a data: address; channels is 1 or 3."""
    stride = width * channels
    raw = b"".join(b"\0" + pixels[row * stride : (row + 1) * stride] for row in range(height))
    kind = {1: 0, 3: 2}[channels]
    return packed(
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)),
        (b"IDAT", zlib.compress(raw, 9)),
        (b"IEND", b""),
    )


def packed(*parts: tuple[bytes, bytes]) -> str:
    """The named parts of a PNG as a data: address."""
    chunks = b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in parts
    )
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + chunks).decode()
