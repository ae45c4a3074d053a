"""The directory of a zip file, read the way torch reads it and suspicious of it.

Python's `zipfile` refuses an archive with a flipped flag or a wrong checksum that torch loads happily, so a scanner
built on it can be blinded. This reader ignores flags and checksums, looks at every entry, also at doubles, and says
what is odd.
"""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise

from torchlore.ckpt.files import Extent, chunks, read, whole
from torchlore.ckpt.judge import Use
from torchlore.ckpt.names import Verdict
from torchlore.ckpt.values import BadFile

_END = struct.Struct("<4s4H2IH")
_END64 = struct.Struct("<4sQ2H2I4Q")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_LOCAL = struct.Struct("<4s5H3I2H")
MAX_ENTRIES = 200_000
MAX_DIRECTORY = 64 << 20  # bytes
BOMB_SIZE, BOMB_RATIO = 64 << 20, 200


@dataclass(frozen=True, slots=True)
class Entry:
    """One member: its name, its bytes, the checksum it claims."""

    name: str
    extent: Extent
    crc: int
    header: int  # where its local header lies


@dataclass(slots=True)
class Directory:
    """The members of an archive and what is odd about it."""

    entries: list[Entry] = field(default_factory=list)
    odd: list[Use] = field(default_factory=list)

    def named(self) -> dict[str, Entry]:
        """Members by name; of two with one name, the first, as torch takes it."""
        found: dict[str, Entry] = {}
        for entry in self.entries:
            found.setdefault(entry.name, entry)
        return found


def directory(archive: Extent) -> Directory:
    """Read the central directory of an archive; raises `BadFile` where there is none."""
    ends = _ends(archive)
    if not ends:
        raise BadFile(
            f"{archive.path}: the zip directory at its end is missing, so the file is cut off; try `lore ckpt repair`."
        )
    result, seen = Directory(), set()
    for at in ends[:4]:
        for entry in _entries(archive, at, result):
            if (entry.name, entry.header) not in seen:
                seen.add((entry.name, entry.header))
                result.entries.append(entry)
    if not result.entries:
        raise BadFile(f"{archive.path}: its zip directory is broken or empty; try `lore ckpt repair`.")
    _suspect(result)
    return result


def _ends(archive: Extent) -> list[int]:
    tail = read(archive, max(archive.nbytes - 65557, 0), 65557)
    base, found, at = archive.nbytes - len(tail), [], len(tail)
    while (at := tail.rfind(b"PK\x05\x06", 0, at)) >= 0:
        if len(tail) - at >= _END.size:
            found.append(base + at)
    return found


def _entries(archive: Extent, end: int, result: Directory) -> list[Entry]:
    _, _, _, _, count, size, offset, _ = _END.unpack(read(archive, end, _END.size))
    top = end
    locator = read(archive, end - 20, 20) if end >= 20 else b""
    if locator[:4] == b"PK\x06\x07":
        at = struct.unpack("<Q", locator[8:16])[0]
        record = read(archive, at, _END64.size)
        if len(record) != _END64.size or record[:4] != b"PK\x06\x06":  # it moves when something is put in front
            at = end - 20 - _END64.size
            record = read(archive, at, _END64.size)
        if len(record) == _END64.size and record[:4] == b"PK\x06\x06":
            count, size, offset = _END64.unpack(record)[7:10]
            top = at
    if count > MAX_ENTRIES or size > MAX_DIRECTORY or size > archive.nbytes:
        raise BadFile(f"{archive.path}: its zip directory claims {count:,} members in {size:,} bytes.")
    moved = max(top - size - offset, 0)  # bytes in front of the archive
    table, found, at = read(archive, top - size if top >= size else offset, size), [], 0
    while len(table) - at >= _CENTRAL.size and table[at : at + 4] == b"PK\x01\x02":
        entry, at = _entry(archive, table, at, moved, result)
        if entry:
            found.append(entry)
    return found


def _entry(archive: Extent, table: bytes, at: int, moved: int, result: Directory) -> tuple[Entry | None, int]:
    (_, _, _, flags, method, _, _, crc, packed, size, names, extras, comments, _, _, _, header) = _CENTRAL.unpack_from(
        table, at
    )
    start = at + _CENTRAL.size
    name = table[start : start + names].decode("utf-8", "replace")
    packed, size, header = _zip64(table[start + names : start + names + extras], packed, size, header)
    following = start + names + extras + comments
    local = read(archive, header + moved, _LOCAL.size)
    if len(local) != _LOCAL.size or local[:4] != b"PK\x03\x04":
        result.odd.append(_odd(name, Verdict.UNKNOWN, "its header is not where the directory says"))
        return None, following
    names_local, extras_local = _LOCAL.unpack(local)[9:11]
    local_name = read(archive, header + moved + _LOCAL.size, names_local).decode("utf-8", "replace")
    if local_name != name:
        result.odd.append(
            _odd(name, Verdict.DANGEROUS, f"its own header calls it {local_name!r}: two readers see two files")
        )
    if flags & 1:
        result.odd.append(_odd(name, Verdict.UNKNOWN, "it is marked as encrypted, which blinds other scanners"))
    if method not in (0, 8):
        result.odd.append(
            _odd(name, Verdict.UNKNOWN, f"it is compressed by method {method}, which cannot be read here")
        )
        return None, following
    data = archive.offset + header + moved + _LOCAL.size + names_local + extras_local
    length = min(packed, max(archive.offset + archive.nbytes - data, 0))
    if length < packed:
        result.odd.append(_odd(name, Verdict.UNKNOWN, f"it is cut off: {length:,} of {packed:,} bytes are there"))
    inner = None if archive.data is None else archive.data[data - archive.offset :][:length]
    extent = Extent(archive.path, data, length, method == 8, size if method == 8 else -1, inner)
    return Entry(name, extent, crc, header + moved), following


def _zip64(extra: bytes, packed: int, size: int, header: int) -> tuple[int, int, int]:
    at = 0
    while len(extra) - at >= 4:
        kind, length = struct.unpack_from("<2H", extra, at)
        body = extra[at + 4 : at + 4 + length]
        if kind == 1:
            values = list(struct.unpack(f"<{len(body) // 8}Q", body[: len(body) // 8 * 8]))
            size = values.pop(0) if size == 0xFFFFFFFF and values else size
            packed = values.pop(0) if packed == 0xFFFFFFFF and values else packed
            header = values.pop(0) if header == 0xFFFFFFFF and values else header
        at += 4 + length
    return packed, size, header


def _odd(name: str, verdict: Verdict, reason: str) -> Use:
    return Use(f"zip member {name}", verdict, reason, "in the zip directory", 0, "", name)


def _suspect(found: Directory) -> None:
    for name, count in Counter(entry.name for entry in found.entries).items():
        if count > 1:
            found.odd.append(
                _odd(name, Verdict.DANGEROUS, f"{count} members have this name: two readers see two files")
            )
        parts = name.replace("\\", "/").split("/")
        if name.startswith(("/", "\\")) or ".." in parts or (len(name) > 1 and name[1] == ":"):
            found.odd.append(
                _odd(name, Verdict.DANGEROUS, "its name leads out of the folder it is unpacked into (zip slip)")
            )
    for entry in found.entries:
        extent = entry.extent
        if extent.deflated and extent.size > BOMB_SIZE and extent.size > BOMB_RATIO * max(extent.length, 1):
            reason = f"{extent.length:,} bytes become {extent.size:,} (zip bomb)"
            found.odd.append(_odd(entry.name, Verdict.DANGEROUS, reason))
    ordered = sorted(found.entries, key=lambda entry: entry.header)
    for before, after in pairwise(ordered):
        end = before.extent.offset + before.extent.length
        if end > after.extent.offset or before.header == after.header:
            found.odd.append(_odd(after.name, Verdict.DANGEROUS, f"it lies inside {before.name} (zip bomb)"))
            break


def local_members(archive: Extent) -> list[Entry]:
    """Members found by their own headers, for an archive whose directory is gone.

    torch writes no sizes into these headers, so a member ends where the next one, or the file, begins.
    """
    starts = _signatures(archive)
    found = []
    for index, start in enumerate(starts):
        header = read(archive, start, _LOCAL.size)
        if len(header) < _LOCAL.size:
            break
        fields = _LOCAL.unpack(header)
        names, extras, packed = fields[9], fields[10], fields[7]
        name = read(archive, start + _LOCAL.size, names).decode("utf-8", "replace")
        data = start + _LOCAL.size + names + extras
        end = starts[index + 1] if index + 1 < len(starts) else archive.nbytes
        length = packed if 0 < packed < 0xFFFFFFFF else max(end - data, 0)
        if fields[3] == 0 and name.isprintable():
            found.append(Entry(name, archive.part(data, min(length, max(archive.nbytes - data, 0))), fields[6], start))
    return found


def _signatures(archive: Extent) -> list[int]:
    found, base, before = [], 0, b""
    for data in chunks(archive):
        block = before + data
        at = -1
        while (at := block.find(b"PK\x03\x04", at + 1)) >= 0:
            found.append(base - len(before) + at)
        before = block[-3:]
        base += len(data)
    return found


def has_directory(path: str) -> bool:
    """Whether a zip directory lies at the end of a file, whatever it begins with."""
    return bool(_ends(whole(path)))
