"""Open any checkpoint: look at its first bytes, not at its name."""

from __future__ import annotations

import struct
from pathlib import Path

from torchlore.ckpt.dcp import load_dcp
from torchlore.ckpt.files import Extent, read, whole
from torchlore.ckpt.formats import inside, load_hdf5, load_npy, load_onnx, load_safetensors, npy_tensor, read_index
from torchlore.ckpt.torchfile import LEGACY_MARK, Checkpoint, load_legacy, load_pickle, load_tar, load_zip, pickle_entry
from torchlore.ckpt.values import BadFile
from torchlore.ckpt.zips import directory

_FOLDER_FILES = (
    "model.safetensors.index.json", "pytorch_model.bin.index.json", "diffusion_pytorch_model.safetensors.index.json",
    "model.safetensors", "pytorch_model.bin", "diffusion_pytorch_model.safetensors",
)  # fmt: skip


def read_checkpoint(path: str | Path) -> Checkpoint:
    """What is in a checkpoint, without running anything of it and without reading its numbers.

    Raises `BadFile` with one sentence for the user where the file is not a checkpoint or too broken to be read.
    """
    target = Path(path)
    if not target.exists():
        raise BadFile(f"{path}: no such file or folder.")
    try:
        return _read_folder(target) if target.is_dir() else _read_file(target)
    except OSError as error:
        raise BadFile(f"{path}: {error.strerror or error}.") from None
    except (struct.error, OverflowError) as error:
        raise BadFile(f"{path}: a broken file ({error}).") from None


def sniff(source: Extent) -> str:
    """The kind of container a file is by its bytes: "zip", "safetensors", "pickle", …, or ""."""
    head = read(source, 0, 512)
    size = int.from_bytes(head[:8], "little")
    for kind, found in (
        ("zip", head[:4] in (b"PK\x03\x04", b"PK\x05\x06")),
        ("legacy", head[:1] == b"\x80" and LEGACY_MARK in head[:32]),
        ("hdf5", head[:8] == b"\x89HDF\r\n\x1a\n"),
        ("npy", head[:6] == b"\x93NUMPY"),
        ("gzip", head[:2] == b"\x1f\x8b"),
        ("bz2", head[:3] == b"BZh"),
        ("xz", head[:6] == b"\xfd7zXZ\x00"),
        ("7z", head[:6] == b"7z\xbc\xaf\x27\x1c"),
        ("tar", head[257:262] == b"ustar"),
        ("safetensors", len(head) >= 10 and head[8:9] == b"{" and size <= 100_000_000),
        ("pickle", len(head) > 1 and head[0] == 0x80 and head[1] <= 5),
        ("json", head.lstrip()[:1] == b"{" and b'"' in head),
        ("onnx", head[:1] == b"\x08" and len(head) > 2 and head[1] < 32),
        ("zlib", head[:2] in (b"x\x01", b"x\x9c", b"x\xda", b"x^")),
    ):
        if found:
            return kind
    return ""


def _read_file(path: Path) -> Checkpoint:
    source = whole(path)
    if not source.length:
        raise BadFile(f"{path}: the file is empty.")
    kind = sniff(source)
    loader = {
        "legacy": load_legacy, "hdf5": load_hdf5, "npy": load_npy, "tar": load_tar, "safetensors": load_safetensors,
        "onnx": load_onnx, "pickle": load_pickle, "": load_pickle,
    }.get(kind)  # fmt: skip
    if kind == "zip":
        return _read_zip(source)
    if kind == "json":
        return _read_sharded(path)
    if loader is None:
        raise BadFile(f"{path}: a {kind} file; unpack it first.")
    return loader(source)


def _read_zip(source: Extent) -> Checkpoint:
    found = directory(source)
    if pickle_entry(found) is None and any(entry.name.endswith(".npy") for entry in found.entries):
        arrays = {entry.name[:-4]: npy_tensor(entry.extent) for entry in found.entries if entry.name.endswith(".npy")}
        return Checkpoint(source.path, "NumPy arrays", arrays)
    return load_zip(source)


def _read_folder(folder: Path) -> Checkpoint:
    if (folder / ".metadata").is_file():
        return load_dcp(folder)
    for name in _FOLDER_FILES:
        if (folder / name).is_file():
            return _read_file(folder / name)
    indexes = sorted(folder.glob("*.index.json"))
    if len(indexes) == 1:
        return _read_sharded(indexes[0])
    raise BadFile(
        f"{folder}: a folder without .metadata (DCP), an index of shards or model.safetensors; name one file in it."
    )


def _read_sharded(path: Path) -> Checkpoint:
    weights = read_index(path)
    result = Checkpoint(str(path), "sharded index", {}, details={"shards": len(set(weights.values()))})
    for name in sorted(set(weights.values())):
        shard = inside(path.parent, name)
        if not shard.is_file():
            count = sum(file == name for file in weights.values())
            result.faults.append(f"shard {name} is missing, and {count} tensors with it.")
            continue
        if sniff(whole(shard)) == "json":
            raise BadFile(f"{path}: its shard {name} is another index.")
        opened = _read_file(shard)
        result.faults += [f"{name}: {fault}" for fault in opened.faults]
        result.details.setdefault("shard format", opened.format)
        if isinstance(opened.root, dict):
            result.root.update(opened.root)
    absent = [key for key in weights if key not in result.root]
    if absent and not result.faults:
        result.faults.append(f"{len(absent)} keys of the index are in no shard, first {absent[0]!r}.")
    return result
