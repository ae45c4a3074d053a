"""Bytes in files: parts of a file as streams, read in place and never mapped.

Positioned reads into one buffer cost what a memory map costs when the file is in the page cache, but they stay within
their buffer (mapped pages count as memory of the process), and a file that shrinks meanwhile is an error, not SIGBUS.
"""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from torchlore.ckpt.values import BadFile

CHUNK = 4 << 20
MAX_INFLATED = 64 << 20  # bytes of a compressed member that are looked at


@dataclass(frozen=True, slots=True)
class Extent:
    """A run of bytes in a file, or in memory when it came out of something compressed."""

    path: str
    offset: int
    length: int  # bytes in the file
    deflated: bool = False
    size: int = -1  # bytes when inflated
    data: bytes | None = None

    @property
    def nbytes(self) -> int:
        """How many bytes a reader gets."""
        return self.size if self.deflated else self.length

    def part(self, start: int, count: int) -> Extent:
        """A run inside this one."""
        if self.deflated:
            raise BadFile(f"{self.path}: a part of a compressed member cannot be read in place.")
        data = None if self.data is None else self.data[start : start + count]
        return Extent(self.path, self.offset + start, count, data=data)


class Slice(io.RawIOBase):
    """A part of a file that behaves like a whole one."""

    def __init__(self, path: str, offset: int, length: int) -> None:
        self._file = Path(path).open("rb", buffering=0)  # noqa: SIM115 -- closed by close()
        self._start, self._length, self._at = offset, max(length, 0), 0

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move within the part."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._length}[whence]
        self._at = max(base + offset, 0)
        return self._at

    def readinto(self, buffer: object) -> int:
        """Fill the buffer as far as the part goes."""
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]  # the io protocol hands any writable buffer
        count = min(len(view), max(self._length - self._at, 0))
        self._file.seek(self._start + self._at)
        got = self._file.readinto(view[:count]) or 0
        self._at += got
        return got

    def close(self) -> None:
        """Close the file below."""
        self._file.close()
        super().close()


def whole(path: str | Path) -> Extent:
    """The extent of a whole file."""
    return Extent(str(path), 0, Path(path).stat().st_size)


def stream(extent: Extent) -> BinaryIO:
    """A seekable stream over an extent; a compressed one is inflated into memory, up to a limit."""
    if extent.deflated:
        return io.BytesIO(_inflate(extent, MAX_INFLATED))
    if extent.data is not None:
        return io.BytesIO(extent.data)
    return io.BufferedReader(Slice(extent.path, extent.offset, extent.length), 1 << 16)


def read(extent: Extent, start: int, count: int) -> bytes:
    """`count` bytes of an extent from `start`; fewer when it ends before."""
    if extent.deflated:
        return _inflate(extent, start + count)[start:]
    if extent.data is not None:
        return extent.data[start : start + count]
    count = min(count, extent.length - start)
    if count <= 0:
        return b""
    with Path(extent.path).open("rb", buffering=0) as file:
        file.seek(extent.offset + start)
        return _exactly(file, count)


def _exactly(file: io.FileIO, count: int) -> bytes:
    parts = []
    while count > 0 and (data := file.read(count)):
        parts.append(data)
        count -= len(data)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def chunks(extent: Extent, size: int = CHUNK) -> Iterator[bytes]:
    """All bytes of an extent, a chunk at a time."""
    if extent.deflated:
        yield from _inflated(extent, size)
        return
    if extent.data is not None:
        yield from (extent.data[at : at + size] for at in range(0, len(extent.data), size))
        return
    with Path(extent.path).open("rb", buffering=0) as file:
        file.seek(extent.offset)
        left = extent.length
        while left > 0 and (data := file.read(min(size, left))):
            left -= len(data)
            yield data


def _inflated(extent: Extent, size: int) -> Iterator[bytes]:
    worker = zlib.decompressobj(-15)
    try:
        for data in chunks(Extent(extent.path, extent.offset, extent.length, data=extent.data), 1 << 16):
            rest = data
            while rest and not worker.eof:
                yield worker.decompress(rest, size)
                rest = worker.unconsumed_tail
    except zlib.error as error:
        raise BadFile(f"{extent.path}: a compressed member is broken ({error}).") from None


def _inflate(extent: Extent, limit: int) -> bytes:
    out = bytearray()
    for data in _inflated(extent, 1 << 20):
        out += data
        if len(out) >= limit:
            break
    return bytes(out[:limit])
