"""Write checkpoints without torch: safetensors and the zip that torch.save writes, a tensor at a time."""

from __future__ import annotations

import io
import json
import os
import struct
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO

from torchlore.ckpt.describe import STORAGE_DTYPE
from torchlore.ckpt.formats import SAFETENSORS
from torchlore.ckpt.tensors import ITEMSIZE, Tensor, blocks, contiguous, is_float, raw_array
from torchlore.ckpt.values import BadFile

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STORAGE_CLASS = {
    dtype: name for name, dtype in STORAGE_DTYPE.items() if name not in ("UntypedStorage", "TypedStorage")
}
_SAFE_DTYPE = {dtype: code for code, dtype in SAFETENSORS.items()}
ALIGNMENT = 64  # torch maps storages into memory, and aligned ones are faster


@dataclass(frozen=True, slots=True)
class Out:
    """A tensor to be written: an old one, perhaps in another dtype, or new numbers."""

    shape: tuple[int, ...]
    dtype: str
    source: Tensor | None = None
    make: Callable[[], Iterator[bytes]] | None = None  # gives its bytes when they are calculated

    @property
    def nbytes(self) -> int:
        """Bytes it will take."""
        count = 1
        for size in self.shape:
            count *= size
        return count * ITEMSIZE.get(self.dtype, 1)

    def chunks(self) -> Iterator[bytes]:
        """Its bytes in order, little-endian."""
        if self.make is not None:
            yield from self.make()
        elif self.source is not None and self.source.nbytes:
            yield from _convert(self.source, self.dtype)


def out(tensor: Tensor, dtype: str | None = None) -> Out:
    """A tensor as it will be written; only floating-point tensors change their dtype."""
    changes = dtype is not None and is_float(tensor.dtype) and "complex" not in tensor.dtype
    return Out(tensor.shape, dtype if changes and dtype else tensor.dtype, tensor)


def _convert(tensor: Tensor, dtype: str) -> Iterator[bytes]:
    import numpy as np

    if tensor.dtype == dtype:
        storage = tensor.storage
        if (
            storage is not None
            and tensor.contiguous
            and not tensor.pieces
            and not storage.big
            and storage.extent
            and not storage.extent.deflated
        ):
            from torchlore.ckpt.files import chunks

            yield from chunks(storage.extent.part(tensor.offset * tensor.itemsize, tensor.nbytes))
            return
        raw = np.ascontiguousarray(raw_array(tensor))
        yield raw.astype(raw.dtype.newbyteorder("<"), copy=False).tobytes()
        return
    for block in blocks(tensor):
        yield encode(block, dtype).tobytes()


def encode(numbers: NDArray[Any], dtype: str) -> NDArray[Any]:
    """Numbers as the bits of a torch dtype; bfloat16 is rounded to nearest even."""
    import numpy as np

    if dtype == "bfloat16":
        bits = np.ascontiguousarray(numbers, dtype=np.float32).view(np.uint32)
        rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
        return np.where(np.isnan(numbers), np.uint16(0x7FC0), rounded)
    names = {"float64": "<f8", "float32": "<f4", "float16": "<f2"}
    if dtype not in names:
        raise BadFile(f"numbers cannot be converted to {dtype}; take float32, float16, bfloat16 or float64.")
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(numbers).astype(names[dtype])


def overflows(tensor: Tensor, dtype: str) -> bool:
    """Whether a number of the tensor is too large for float16 and would become infinite."""
    import numpy as np

    if dtype != "float16" or tensor.dtype == "float16" or not is_float(tensor.dtype):
        return False
    with np.errstate(invalid="ignore"):
        return any(
            bool((np.abs(block) > 65504).any() and np.isfinite(block).all()) for block in blocks(tensor) if block.size
        )


@contextmanager
def atomic(path: Path) -> Iterator[IO[bytes]]:
    """A file that appears under its name only when it is whole."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_safetensors(state: dict[str, Out], path: Path, metadata: dict[str, str] | None = None) -> None:
    """Write tensors as safetensors."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt", **(metadata or {})}}
    at = 0
    ordered = sorted(
        state.items(), key=lambda pair: (-ITEMSIZE.get(pair[1].dtype, 1), pair[0])
    )  # so that all lie aligned
    for key, item in ordered:
        if item.dtype not in _SAFE_DTYPE:
            raise BadFile(f"safetensors has no dtype for {key!r}, which is {item.dtype}; write a .pt file.")
        header[key] = {
            "dtype": _SAFE_DTYPE[item.dtype],
            "shape": list(item.shape),
            "data_offsets": [at, at + item.nbytes],
        }
        at += item.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with atomic(path) as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for key, item in ordered:
            _copy(item, file, key)


def _copy(item: Out, file: Any, key: str) -> None:
    written = 0
    for chunk in item.chunks():
        file.write(chunk)
        written += len(chunk)
    if written != item.nbytes:
        raise BadFile(f"{key}: {written:,} of {item.nbytes:,} bytes could be read, so it was not written.")


# the zip that torch.load reads -------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Pickle:
    file: BinaryIO = field(default_factory=io.BytesIO)
    storages: list[Out] = field(default_factory=list)
    keys: dict[tuple[Any, ...], int] = field(default_factory=dict)

    def key(self, item: Out) -> int:
        """The number of a tensor's storage; tied tensors get one."""
        source = item.source
        place = source.storage.extent if source is not None and source.storage is not None else None
        identity: tuple[Any, ...] = (id(item),)
        if source is not None and place is not None and place.data is None:
            identity = (place.path, place.offset, source.offset, source.stride, item.shape, item.dtype)
        if identity not in self.keys:
            self.keys[identity] = len(self.storages)
            self.storages.append(item)
        return self.keys[identity]


def write_torch(tree: Any, path: Path) -> None:
    """Write dicts, lists, numbers, texts and tensors as torch.save would; torch.load reads it with weights_only=True."""
    pickled = _Pickle()
    pickled.file.write(b"\x80\x02")
    _emit(pickled, tree, 0)
    pickled.file.write(b".")
    data = pickled.file.getvalue() if isinstance(pickled.file, io.BytesIO) else b""
    with atomic(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name, content in (("data.pkl", data), ("byteorder", b"little"), ("version", b"3\n")):
            with archive.open(_member(archive, f"archive/{name}", len(content)), "w") as member:
                member.write(content)
        for number, item in enumerate(pickled.storages):
            info = _member(archive, f"archive/data/{number}", item.nbytes)
            with archive.open(info, "w", force_zip64=item.nbytes > 1 << 31) as member:
                _copy(item, member, f"tensor {number}")


def _member(archive: zipfile.ZipFile, name: str, size: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.file_size = size
    zip64 = 20 if size > 1 << 31 else 0
    start = archive.fp.tell() if archive.fp is not None else 0
    pad = -(start + 30 + len(name) + zip64 + 4) % ALIGNMENT
    info.extra = b"FB" + struct.pack("<H", pad) + b"Z" * pad
    return info


def _global(module: str, name: str) -> bytes:
    return f"c{module}\n{name}\n".encode()


def _text(value: str) -> bytes:
    raw = value.encode("utf-8", "surrogatepass")
    return b"X" + struct.pack("<I", len(raw)) + raw


def _number(value: int) -> bytes:
    if -(1 << 31) <= value < 1 << 31:
        return b"J" + struct.pack("<i", value)
    raw = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return b"\x8a" + bytes([len(raw)]) + raw if len(raw) < 256 else b"\x8b" + struct.pack("<i", len(raw)) + raw


def _emit(pickled: _Pickle, value: Any, depth: int) -> None:
    write = pickled.file.write
    if depth > 100:
        raise BadFile("the checkpoint is nested too deeply to be written.")
    if isinstance(value, dict):
        write(b"}(")
        for key, item in value.items():
            _emit(pickled, key, depth + 1)
            _emit(pickled, item, depth + 1)
        write(b"u")
    elif isinstance(value, list | tuple):
        write(b"](" if isinstance(value, list) else b"(")
        for item in value:
            _emit(pickled, item, depth + 1)
        write(b"e" if isinstance(value, list) else b"t")
    else:
        write(_tensor(pickled, value) if isinstance(value, Out) else _plain(value))


def _plain(value: Any) -> bytes:
    if value is None or isinstance(value, bool):
        return {None: b"N", True: b"\x88", False: b"\x89"}[value]
    if isinstance(value, int):
        return _number(value)
    if isinstance(value, float):
        return b"G" + struct.pack(">d", value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bytes):
        return _global("_codecs", "encode") + _text(value.decode("latin-1")) + _text("latin1") + b"\x86R"
    raise BadFile(f"a {type(value).__name__} cannot be written into a plain checkpoint.")


def _ints(values: tuple[int, ...]) -> bytes:
    return b"(" + b"".join(_number(value) for value in values) + b"t"


def _tensor(pickled: _Pickle, item: Out) -> bytes:
    key = str(pickled.key(item))
    count = item.nbytes // ITEMSIZE.get(item.dtype, 1)
    legacy = _STORAGE_CLASS.get(item.dtype)
    kind = _global("torch", legacy) if legacy else _global("torch.storage", "UntypedStorage")
    storage = (
        b"(" + _text("storage") + kind + _text(key) + _text("cpu") + _number(count if legacy else item.nbytes) + b"tQ"
    )
    place = _number(0) + _ints(item.shape) + _ints(contiguous(item.shape))
    hooks = b"\x89" + _global("collections", "OrderedDict") + b")R"
    if legacy:
        return _global("torch._utils", "_rebuild_tensor_v2") + b"(" + storage + place + hooks + b"tR"
    return (
        _global("torch._utils", "_rebuild_tensor_v3")
        + b"("
        + storage
        + place
        + hooks
        + _global("torch", item.dtype)
        + b"tR"
    )
