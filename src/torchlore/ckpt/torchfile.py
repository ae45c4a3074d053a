"""Files that torch.save wrote, in all the ways it has done so: zip, legacy, legacy tar, and plain pickles."""

from __future__ import annotations

import struct
import tarfile
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from torchlore.ckpt.describe import STORAGE_DTYPE, Describer, Opaque
from torchlore.ckpt.files import Extent, read, stream
from torchlore.ckpt.machine import trace
from torchlore.ckpt.stack import Trace
from torchlore.ckpt.tensors import ITEMSIZE, Storage, Tensor
from torchlore.ckpt.values import BadFile, Global, Persistent, Seq
from torchlore.ckpt.zips import Directory, Entry, directory

MAGIC = 0x1950A86A20F9469CFC6C
LEGACY_MARK = b"\x8a\x0a" + MAGIC.to_bytes(10, "little")  # the first constant of the first pickle


@dataclass(slots=True)
class Checkpoint:
    """One checkpoint: what it is and what is in it, without the numbers."""

    path: str
    format: str
    root: Any  # plain dicts, lists, numbers, `Tensor`s and `Opaque` objects
    faults: list[str] = field(default_factory=list)  # what is broken about the file, a sentence each
    details: dict[str, Any] = field(default_factory=dict)  # of the container: producer, opset, shards


def pickle_entry(found: Directory) -> Entry | None:
    """The `data.pkl` that torch.load would read."""
    return next((entry for entry in found.entries if entry.name.split("/")[-1] == "data.pkl"), None)


def load_zip(archive: Extent, level: int = 0) -> Checkpoint:
    """A zip that torch.save or torch.jit.save wrote."""
    found = directory(archive)
    entry = pickle_entry(found)
    if entry is None:
        names = ", ".join(sorted({item.name for item in found.entries})[:3])
        raise BadFile(f"{archive.path}: a zip without data.pkl, so torch did not save it (it holds {names}, …).")
    prefix = entry.name[: -len("data.pkl")]
    members = found.named()
    script = f"{prefix}constants.pkl" in members or any(name.startswith(f"{prefix}code/") for name in members)

    def locate(key: str, _: int) -> Extent | None:
        for folder in ("data/", "", "constants/", "tensors/"):
            if f"{prefix}{folder}{key}" in members:
                return members[f"{prefix}{folder}{key}"].extent
        return None

    order = members.get(f"{prefix}byteorder")
    byteorder = read(order.extent, 0, 8).decode("ascii", "replace") if order else "little"
    described = describe(entry.extent, locate, byteorder, level=level)
    faults = [f"{use.what}: {use.reason}." for use in found.odd if "cut off" in use.reason or "header" in use.reason]
    result = Checkpoint(archive.path, _name(described.root, "TorchScript" if script else "torch zip"), described.root)
    result.faults = faults + described.faults
    version = members.get(f"{prefix}version") or members.get(f"{prefix}.data/version")
    if version:
        result.details["version"] = read(version.extent, 0, 16).decode("ascii", "replace").strip()
    if byteorder != "little":
        result.details["byteorder"] = byteorder
    return result


def _name(root: Any, otherwise: str) -> str:
    whole = isinstance(root, Opaque) and "_modules" in root.state
    return "whole-model pickle" if whole and otherwise != "TorchScript" else otherwise


@dataclass(slots=True)
class Described:
    """A pickle's plain contents, what is wrong with it, and its trace."""

    root: Any
    faults: list[str]
    trace: Trace


def describe(
    source: Extent,
    locate: Callable[[str, int], Extent | None],
    byteorder: str = "little",
    special: Callable[[Any], Any] | None = None,
    level: int = 0,
) -> Described:
    """Read one pickle and turn it into plain data."""
    with stream(source) as file:
        return describe_trace(trace(file), source, locate, byteorder, special, level)


def describe_trace(
    done: Trace,
    source: Extent,
    locate: Callable[[str, int], Extent | None],
    byteorder: str = "little",
    special: Callable[[Any], Any] | None = None,
    level: int = 0,
) -> Described:
    """Turn a pickle that was read already into plain data."""
    faults = [f"the pickle breaks off at byte {done.end:,}: {done.fault}."] if done.fault else []
    root = Describer(locate, source, byteorder, special, level).plain(done.value)
    return Described(root, faults, done)


def load_nested(source: Extent, level: int) -> Any:
    """What a torch file inside a pickle holds; too deep or too broken, it stays closed."""
    if level > 3:
        return Opaque("a pickle nested too deeply")
    try:
        if read(source, 0, 4) == b"PK\x03\x04":
            return load_zip(source, level).root
        return load_legacy(source, level).root
    except BadFile:
        return Opaque("a broken storage")


def load_pickle(source: Extent) -> Checkpoint:
    """A plain pickle: a whole object, or arrays."""
    described = describe(source, lambda _key, _size: None)
    if described.faults and described.root is None:
        head = read(source, 0, 24)
        reason = f" ({described.faults[0].rstrip('.')})" if head[:1] == b"\x80" else ""
        if head.startswith(b"version https://git-lfs"):
            reason = " (a pointer of Git LFS: `git lfs pull` fetches the file itself)"
        if head.lstrip().lower().startswith((b"<!doctype", b"<html")):
            reason = " (a web page: the download did not give the file)"
        raise BadFile(f"{source.path}: no checkpoint of a format that is known here{reason}.")
    return Checkpoint(source.path, _name(described.root, "pickle"), described.root, described.faults)


# torch 0.4 to 1.5, and `_use_new_zipfile_serialization=False` ---------------------------------------------------------


def legacy_traces(file: BinaryIO) -> list[Trace]:
    """Its five pickles: magic number, version, system, the object, the storages' keys."""
    found = []
    for _ in range(5):
        found.append(trace(file))
        if found[-1].fault:
            break
    return found


def load_legacy(source: Extent, level: int = 0) -> Checkpoint:
    """A file of torch before 1.6."""
    with stream(source) as file:
        traces = legacy_traces(file)
        if len(traces) < 4:
            raise BadFile(f"{source.path}: the file ends inside its header.")
        keys = traces[4].value if len(traces) > 4 else None
        names = [str(key) for key in keys.items] if isinstance(keys, Seq) else []
        places = _storage_places(source, traces[3], names, traces[-1].end)
    described = describe_trace(traces[3], source, lambda key, _: places.get(key), _byteorder(traces[2]), level=level)
    result = Checkpoint(source.path, _name(described.root, "torch legacy"), described.root, described.faults)
    if len(traces) < 5 or traces[4].fault:
        result.faults.append("the list of storages is cut off, so no tensor has its numbers.")
    return result


def _byteorder(info: Trace) -> str:
    pairs = getattr(info.value, "pairs", [])
    return "big" if ("little_endian", False) in pairs else "little"


def _storage_places(source: Extent, done: Trace, names: list[str], start: int) -> dict[str, Extent]:
    sizes = {key: ITEMSIZE[dtype] for key, dtype in map(_storage_dtype, done.persistent) if key}
    places, at = {}, start
    for name in names:
        head = read(source, at, 8)
        if len(head) < 8:
            break
        count = struct.unpack("<q", head)[0] * sizes.get(name, 1)
        if not 0 <= count < 1 << 50:
            break
        places[name] = source.part(at + 8, max(min(count, source.nbytes - at - 8), 0))
        at += 8 + count
    return places


def _storage_dtype(value: Persistent) -> tuple[str, str]:
    items = value.identity.items if isinstance(value.identity, Seq) else []
    if len(items) < 5 or not isinstance(items[1], Global):
        return "", "uint8"
    return str(items[2]), STORAGE_DTYPE.get(items[1].name.split(".")[-1], "uint8")


# torch 0.1: a tar of three files ---------------------------------------------------------------------------------------


def tar_members(source: Extent) -> dict[str, Extent]:
    """The regular files of a tar, in place."""
    try:
        with stream(source) as file, tarfile.open(fileobj=file, mode="r:") as archive:
            return {
                item.name: source.part(item.offset_data, item.size) for item in archive.getmembers() if item.isreg()
            }
    except (tarfile.TarError, ValueError, OSError, EOFError) as error:
        raise BadFile(f"{source.path}: a broken tar file ({error}).") from None


@dataclass(slots=True)
class TarParts:
    """The three streams of a legacy tar, read."""

    traces: dict[str, list[Trace]] = field(default_factory=lambda: {"storages": [], "tensors": [], "pickle": []})
    storages: dict[str, Storage] = field(default_factory=dict)
    tensors: dict[str, Tensor] = field(default_factory=dict)


def load_tar(source: Extent) -> Checkpoint:
    """A file of torch 0.1."""
    members = tar_members(source)
    if "pickle" not in members:
        raise BadFile(f"{source.path}: a tar without the member 'pickle', so torch did not save it.")
    parts = tar_parts(members)

    def special(identity: Any) -> Any:
        if isinstance(identity, tuple):
            return identity[0] if identity else None
        key = str(identity)
        return parts.tensors.get(key) or parts.storages.get(key) or Opaque("a tensor that is not in the file")

    described = describe(members["pickle"], lambda _key, _size: None, special=special)
    return Checkpoint(source.path, _name(described.root, "torch legacy tar"), described.root, described.faults)


def tar_parts(members: dict[str, Extent]) -> TarParts:
    """Read the streams of a legacy tar, as far as they go."""
    parts = TarParts()
    if "storages" in members:
        with stream(members["storages"]) as file:
            _tar_storages(file, members["storages"], parts)
    if "tensors" in members:
        with stream(members["tensors"]) as file:
            _tar_tensors(file, parts)
    return parts


def _count(done: Trace) -> int:
    return done.value if not done.fault and isinstance(done.value, int) and 0 <= done.value <= 1_000_000 else 0


def _tar_storages(file: BinaryIO, extent: Extent, parts: TarParts) -> None:
    traces = parts.traces["storages"]
    traces.append(trace(file))
    for _ in range(_count(traces[-1])):
        traces.append(trace(file))
        value = traces[-1].value
        if traces[-1].fault or not isinstance(value, Seq) or len(value.items) != 3:
            return
        key, device, kind = value.items
        dtype = STORAGE_DTYPE.get(kind.name, "uint8") if isinstance(kind, Global) else "uint8"
        head = file.read(8)
        count = struct.unpack("<q", head)[0] * ITEMSIZE[dtype] if len(head) == 8 else -1
        if not 0 <= count < 1 << 50:
            return
        at = file.tell()
        place = extent.part(at, max(min(count, extent.nbytes - at), 0))
        parts.storages[str(key)] = Storage(str(key), dtype, str(device), count, place)
        file.seek(at + count)
    traces.append(trace(file))
    views = traces[-1].value
    for view in views.items if isinstance(views, Seq) else []:
        _tar_view(view, parts)


def _tar_view(view: Any, parts: TarParts) -> None:
    if not isinstance(view, Seq) or len(view.items) != 4:
        return
    target, root, offset, numel = view.items
    base = parts.storages.get(str(root))
    if base is None or base.extent is None or not isinstance(offset, int) or not isinstance(numel, int):
        return
    size = ITEMSIZE[base.dtype]
    if 0 <= offset * size <= base.nbytes and 0 <= numel * size <= base.nbytes - offset * size:
        place = base.extent.part(offset * size, numel * size)
        parts.storages[str(target)] = Storage(str(target), base.dtype, base.device, numel * size, place)


def _tar_tensors(file: BinaryIO, parts: TarParts) -> None:
    traces = parts.traces["tensors"]
    traces.append(trace(file))
    for _ in range(_count(traces[-1])):
        traces.append(trace(file))
        value = traces[-1].value
        if traces[-1].fault or not isinstance(value, Seq) or len(value.items) != 3:
            return
        head = file.read(8)
        rank = struct.unpack("<i", head[:4])[0] if len(head) == 8 else -1
        if not 0 <= rank <= 64:
            return
        data = file.read(16 * rank + 8)
        if len(data) < 16 * rank + 8:
            return
        numbers = struct.unpack(f"<{2 * rank + 1}q", data)
        storage = parts.storages.get(str(value.items[1]))
        if storage is not None and min(numbers) >= 0 and max(numbers) < 1 << 50:
            tensor = Tensor(numbers[:rank], storage.dtype, numbers[rank : 2 * rank], numbers[-1], storage)
            parts.tensors[str(value.items[0])] = tensor
