"""Formats that other programs write: safetensors, sharded folders, ONNX, HDF5, NumPy."""

from __future__ import annotations

import ast
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from torchlore.ckpt.describe import _NUMPY_CODES, Opaque
from torchlore.ckpt.files import Extent, read
from torchlore.ckpt.tensors import ITEMSIZE, Tensor, dense
from torchlore.ckpt.torchfile import Checkpoint
from torchlore.ckpt.values import BadFile

SAFETENSORS = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "I64": "int64", "I32": "int32",
    "I16": "int16", "I8": "int8", "U8": "uint8", "U16": "uint16", "U32": "uint32", "U64": "uint64", "BOOL": "bool",
    "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2", "F8_E8M0": "float8_e8m0fnu", "C64": "complex64",
}  # fmt: skip
MAX_HEADER = 100_000_000  # bytes, the limit of the safetensors library itself


class Escape(BadFile):
    """A file names another one outside its own folder."""


def load_safetensors(source: Extent) -> Checkpoint:
    """A safetensors file: a JSON header and raw bytes."""
    size = int.from_bytes(read(source, 0, 8), "little")
    if size > MAX_HEADER or size > source.nbytes - 8:
        raise BadFile(f"{source.path}: its header claims {size:,} bytes, the file has {source.nbytes:,}.")
    header = _json(read(source, 8, size), source.path)
    if not isinstance(header, dict):
        raise BadFile(f"{source.path}: its header is {type(header).__name__}, expected an object of tensors.")
    metadata = header.pop("__metadata__", None)
    root, faults = {}, []
    for key, entry in header.items():
        root[key] = _safe_tensor(source, 8 + size, key, entry)
        if not root[key].fits:
            faults.append(f"{key} is cut off: the file ends before its last byte.")
    details = {"metadata": metadata} if isinstance(metadata, dict) and metadata else {}
    return Checkpoint(source.path, "safetensors", root, faults, details)


def _json(data: bytes, path: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{path}: its JSON is broken ({error}).") from None


def _safe_tensor(source: Extent, base: int, key: str, entry: Any) -> Tensor:
    try:
        dtype, shape, (start, end) = SAFETENSORS[entry["dtype"]], tuple(entry["shape"]), entry["data_offsets"]
    except (KeyError, TypeError, ValueError):
        raise BadFile(
            f"{source.path}: the header's entry for {key!r} is broken or of a dtype that is not known."
        ) from None
    if not all(isinstance(n, int) and 0 <= n < 1 << 50 for n in (*shape, start, end)) or len(shape) > 64:
        raise BadFile(f"{source.path}: {key!r} has an impossible shape or place.")
    if math.prod(shape) * ITEMSIZE[dtype] != end - start:
        raise BadFile(f"{source.path}: {key!r} of shape {shape} {dtype} claims {end - start:,} bytes.")
    length = max(min(end - start, source.nbytes - base - start), 0)
    return dense(shape, dtype, source.part(base + start, length), key)


# a folder of shards -----------------------------------------------------------------------------------------------------


def inside(folder: Path, name: str) -> Path:
    """A file named by an index, refused when the name leads out of the folder."""
    if (
        not name.isprintable()
        or Path(name).is_absolute()
        or not (folder / name).resolve().is_relative_to(folder.resolve())
    ):
        raise Escape(f"{folder}: it names {name!r}, which lies outside the folder.")
    return folder / name


def read_index(path: Path) -> dict[str, str]:
    """The `weight_map` of an index file: key -> file."""
    if path.stat().st_size > MAX_HEADER:
        raise BadFile(f"{path}: too large for an index.")
    index = _json(path.read_bytes(), str(path))
    found = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(found, dict) or not all(isinstance(name, str) for name in found.values()):
        raise BadFile(f"{path}: no weight_map in it, so it is no index of shards.")
    return found


# ONNX: the few fields of the protobuf that hold tensors ------------------------------------------------------------------

_ONNX_DTYPES = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16",
    11: "float64", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128", 16: "bfloat16",
    17: "float8_e4m3fn", 18: "float8_e4m3fnuz", 19: "float8_e5m2", 20: "float8_e5m2fnuz",
}  # fmt: skip


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        value |= (byte & 127) << shift
        at += 1
        if byte < 128:
            return value, at
        shift += 7
    raise BadFile("a number in the protobuf is broken.")


def fields(source: Extent) -> list[tuple[int, int, Any]]:
    """The fields of a protobuf message: number, wire type, and a number or an extent (nothing large is read)."""
    found: list[tuple[int, int, Any]] = []
    at = 0
    while at < source.nbytes:
        head = read(source, at, 20)
        tag, used = _varint(head, 0)
        wire, number = tag & 7, tag >> 3
        if wire == 0:
            value, used = _varint(head, used)
            found.append((number, wire, value))
            at += used
        elif wire == 2:
            length, used = _varint(head, used)
            if length > source.nbytes - at - used:
                raise BadFile(f"{source.path}: a field of the protobuf is cut off.")
            found.append((number, wire, source.part(at + used, length)))
            at += used + length
        elif wire in (1, 5):
            found.append((number, wire, None))
            at += used + (8 if wire == 1 else 4)
        else:
            raise BadFile(f"{source.path}: no ONNX file (wire type {wire}).")
        if len(found) > 2_000_000:
            raise BadFile(f"{source.path}: too many fields.")
    return found


def _text(extent: Any) -> str:
    return read(extent, 0, 4096).decode("utf-8", "replace") if isinstance(extent, Extent) else ""


def load_onnx(source: Extent) -> Checkpoint:
    """An ONNX model: its initializers as tensors, its nodes counted."""
    model = fields(source)
    graph = next((value for number, wire, value in model if number == 7 and wire == 2), None)
    if graph is None:
        raise BadFile(f"{source.path}: no graph in it, so it is no ONNX model.")
    root: dict[str, Any] = {}
    nodes = 0
    for number, wire, value in fields(graph):
        nodes += number == 1
        if number == 5 and wire == 2:
            name, tensor = _onnx_tensor(source, value)
            root[name or f"initializer {len(root)}"] = tensor
    producer = next((_text(value) for number, _, value in model if number == 2), "")
    opsets = [
        value for number, wire, item in model if number == 8 and wire == 2 for n, _, value in fields(item) if n == 2
    ]
    details = {"producer": producer, "opset": max(opsets, default=None), "nodes": nodes}
    return Checkpoint(source.path, "ONNX", root, details=details)


def _onnx_tensor(source: Extent, message: Extent) -> tuple[str, Any]:
    shape: list[int] = []
    parts: dict[str, Any] = {}
    external: dict[str, str] = {}
    for number, wire, value in fields(message):
        if number == 1:
            shape += _packed(value) if wire == 2 else [value]
        elif number == 13 and wire == 2:
            pair = {n: _text(item) for n, _, item in fields(value)}
            external[pair.get(1, "")] = pair.get(2, "")
        elif (number, wire) in _ONNX_PARTS:
            parts[_ONNX_PARTS[number, wire]] = value
    name, dtype = _text(parts.get("name")), _ONNX_DTYPES.get(parts.get("dtype", 1), "")
    if not dtype or len(shape) > 64 or not all(isinstance(size, int) and 0 <= size < 1 << 50 for size in shape):
        return name, Opaque("a tensor of a type that is not known")
    raw = _external(source, external) if external.get("location") else parts.get("raw")
    typed = parts.get("typed")
    if raw is None and typed is not None and typed.nbytes == math.prod(shape) * ITEMSIZE[dtype]:
        raw = typed
    return name, dense(tuple(shape), dtype, raw, name)


_ONNX_PARTS = {(2, 0): "dtype", (8, 2): "name", (9, 2): "raw", (4, 2): "typed", (7, 2): "typed", (10, 2): "typed"}


def _packed(extent: Extent) -> list[int]:
    data, at, out = read(extent, 0, 1024), 0, []
    while at < len(data):
        value, at = _varint(data, at)
        out.append(value)
    return out


def _external(source: Extent, place: dict[str, str]) -> Extent | None:
    path = inside(Path(source.path).parent, place["location"])
    if not path.is_file():
        return None
    size = path.stat().st_size
    start = int(place.get("offset", "0")) if place.get("offset", "0").isdigit() else 0
    length = int(place["length"]) if place.get("length", "").isdigit() else size - start
    return Extent(str(path), start, max(min(length, size - start), 0))


# HDF5 and NumPy ----------------------------------------------------------------------------------------------------------


def load_hdf5(source: Extent) -> Checkpoint:
    """An HDF5 file, its groups as dicts. Needs h5py."""
    try:
        import h5py
    except ImportError:
        raise BadFile(f"{source.path}: reading HDF5 needs h5py; write `pip install 'torchlore[hdf5]'`.") from None
    try:
        with h5py.File(source.path, "r") as file:
            attributes = {str(key): _attribute(value) for key, value in list(file.attrs.items())[:100]}
            root = _hdf5_group(source.path, file, h5py, 0, [0])
    except (OSError, RuntimeError, KeyError, ValueError, TypeError) as error:
        raise BadFile(f"{source.path}: a broken HDF5 file ({str(error).splitlines()[0]}).") from None
    return Checkpoint(source.path, "HDF5", root, details={"attributes": attributes} if attributes else {})


def _attribute(value: Any) -> str:
    return (value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value))[:20_000]


def _hdf5_group(path: str, group: Any, h5py: Any, depth: int, seen: list[int]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name in group:
        seen[0] += 1
        link = group.get(name, getlink=True)
        if depth > 40 or seen[0] > 200_000:
            break
        if not isinstance(link, h5py.HardLink):  # a soft or external link may lead anywhere, also out of the file
            out[name] = Opaque("a link")
            continue
        item = group[name]
        out[name] = (
            _hdf5_group(path, item, h5py, depth + 1, seen) if isinstance(item, h5py.Group) else _hdf5_tensor(path, item)
        )
    return out


def _hdf5_tensor(path: str, item: Any) -> Any:
    dtype = _NUMPY_CODES.get(item.dtype.str.lstrip("<>|="))
    if dtype is None or item.shape is None:
        return Opaque(f"dataset of {item.dtype}")
    offset = item.id.get_offset()  # None when it is chunked or compressed
    shape = tuple(int(size) for size in item.shape)
    extent = Extent(path, offset, math.prod(shape) * ITEMSIZE[dtype]) if offset is not None else None
    return dense(shape, dtype, extent, kind="dense" if extent else "chunked", big=item.dtype.str.startswith(">"))


def load_npy(source: Extent, name: str = "array") -> Checkpoint:
    """One NumPy array."""
    tensor = npy_tensor(source)
    return Checkpoint(source.path, "NumPy array", {name: tensor})


def _npy_header(source: Extent) -> tuple[dict[str, Any], int]:
    head = read(source, 0, 12)
    wide = len(head) > 6 and head[6] >= 2
    begin = 12 if wide else 10
    length = int.from_bytes(head[8:begin], "little")
    if length > 65536:
        raise BadFile(f"{source.path}: the header of the array is too long.")
    try:
        header = ast.literal_eval(read(source, begin, length).decode("latin-1").strip())
        shape = tuple(header["shape"])
    except (ValueError, SyntaxError, KeyError, TypeError, MemoryError, RecursionError):
        raise BadFile(f"{source.path}: the header of the array is broken.") from None
    if "descr" not in header or not all(isinstance(n, int) and 0 <= n < 1 << 50 for n in shape):
        raise BadFile(f"{source.path}: the header of the array is broken.")
    return header, begin + length


def npy_object_start(source: Extent) -> int | None:
    """Where the pickle of an array of Python objects begins; None for an array of numbers."""
    header, start = _npy_header(source)
    return start if "O" in str(header["descr"]) else None


def npy_tensor(source: Extent) -> Any:
    """The array of an .npy file, in place."""
    header, start = _npy_header(source)
    dtype, shape = header["descr"], tuple(header["shape"])
    name = _NUMPY_CODES.get(dtype.lstrip("<>|=")) if isinstance(dtype, str) else None
    if name is None:
        return Opaque(f"array of {dtype}")
    length = math.prod(shape) * ITEMSIZE[name]
    extent = None if source.deflated else source.part(start, max(min(length, source.nbytes - start), 0))
    if header.get("fortran_order") is True:
        flipped = dense(shape[::-1], name, extent, kind="numpy", big=dtype.startswith(">"))
        return replace(flipped, shape=shape, stride=flipped.stride[::-1])
    return dense(shape, name, extent, kind="numpy", big=dtype.startswith(">"))
