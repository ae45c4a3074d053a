"""A tensor as a checkpoint describes it, and its numbers, read when asked for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torchlore.ckpt.files import CHUNK, Extent, chunks, read
from torchlore.ckpt.values import BadFile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# dtype -> bytes an element; the names are torch's
ITEMSIZE = {
    "float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "int64": 8, "int32": 4, "int16": 2, "int8": 1,
    "uint8": 1, "uint16": 2, "uint32": 4, "uint64": 8, "bool": 1, "complex32": 4, "complex64": 8, "complex128": 16,
    "float8_e4m3fn": 1, "float8_e5m2": 1, "float8_e4m3fnuz": 1, "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1,
    "qint8": 1, "quint8": 1, "qint32": 4, "quint4x2": 1, "quint2x4": 1, "float4_e2m1fn_x2": 1,
}  # fmt: skip
SHORT = {
    "float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "int64": "i64", "int32": "i32",
    "int16": "i16", "int8": "i8", "uint8": "u8",
}  # fmt: skip
_NUMPY = {
    "float64": "<f8", "float32": "<f4", "float16": "<f2", "int64": "<i8", "int32": "<i4", "int16": "<i2", "int8": "i1",
    "uint8": "u1", "uint16": "<u2", "uint32": "<u4", "uint64": "<u8", "bool": "?", "complex64": "<c8",
    "complex128": "<c16", "qint8": "i1", "quint8": "u1", "qint32": "<i4",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Storage:
    """The bytes below one or more tensors."""

    key: str
    dtype: str
    device: str
    nbytes: int  # what the file claims
    extent: Extent | None  # where they lie; None when they are not in the file
    big: bool = False  # most significant byte first

    @property
    def whole(self) -> bool:
        """Whether all claimed bytes are there."""
        return self.extent is not None and self.extent.nbytes >= self.nbytes


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a tensor that is stored elsewhere: DCP's shards."""

    start: tuple[int, ...]
    tensor: Tensor


@dataclass(frozen=True, slots=True)
class Tensor:
    """Shape, dtype and place of one tensor."""

    shape: tuple[int, ...]
    dtype: str
    stride: tuple[int, ...]  # in elements
    offset: int  # in elements
    storage: Storage | None
    requires_grad: bool = False
    kind: str = "dense"  # "numpy", "quantized", "sparse", "meta"
    pieces: tuple[Piece, ...] = ()

    @property
    def numel(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes an element."""
        return ITEMSIZE.get(self.dtype, 1)

    @property
    def nbytes(self) -> int:
        """Bytes of its elements."""
        return self.numel * self.itemsize

    @property
    def device(self) -> str:
        """Where it was when it was saved."""
        return self.storage.device if self.storage else "meta" if self.kind == "meta" else "cpu"

    @property
    def contiguous(self) -> bool:
        """Whether its elements lie in order without gaps."""
        return not self.numel or all(
            size == 1 or step == want
            for size, step, want in zip(self.shape, self.stride, contiguous(self.shape), strict=True)
        )

    @property
    def span(self) -> int:
        """How many elements of its storage lie between its first and its last."""
        if not self.numel:
            return 0
        return sum((size - 1) * step for size, step in zip(self.shape, self.stride, strict=True)) + 1

    @property
    def fits(self) -> bool:
        """Whether its elements lie inside the bytes that are there."""
        if self.pieces:
            return all(piece.tensor.fits for piece in self.pieces)
        if not self.numel:
            return True
        have = self.storage.extent.nbytes if self.storage and self.storage.extent else 0
        return (self.offset + self.span) * self.itemsize <= have


def contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a tensor whose elements lie in order."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def dense(
    shape: tuple[int, ...], dtype: str, extent: Extent | None, key: str = "", kind: str = "dense", *, big: bool = False
) -> Tensor:
    """A contiguous tensor over its own bytes."""
    nbytes = math.prod(shape) * ITEMSIZE.get(dtype, 1)
    return Tensor(shape, dtype, contiguous(shape), 0, Storage(key, dtype, "cpu", nbytes, extent, big), kind=kind)


def is_float(dtype: str) -> bool:
    """Whether NaN and infinity exist in it."""
    return "float" in dtype or "complex" in dtype


def raw_dtype(dtype: str, *, big: bool = False) -> Any:
    """The NumPy dtype that holds the raw bits."""
    import numpy as np

    code = _NUMPY.get(dtype) or {1: "u1", 2: "<u2", 4: "<u4", 8: "<u8", 16: "<c16"}[ITEMSIZE.get(dtype, 1)]
    return np.dtype(code).newbyteorder(">") if big else np.dtype(code)


def decode(raw: NDArray[Any], dtype: str) -> NDArray[Any]:
    """Numbers that NumPy can calculate with: bfloat16 and float8 become float32, the rest stays."""
    import numpy as np

    if dtype == "bfloat16":
        return (raw.astype(np.uint32) << 16).view(np.float32)
    if dtype.startswith("float8"):
        return np.asarray(_float8_table(dtype)[raw])
    if dtype == "complex32":
        pair = np.ascontiguousarray(raw).view(np.float16).astype(np.float32)
        return pair.view(np.complex64).reshape(raw.shape)
    return raw


def _float8_table(dtype: str) -> NDArray[np.float32]:
    import numpy as np

    if dtype == "float8_e8m0fnu":
        table = np.exp2(np.arange(256, dtype=np.float64) - 127).astype(np.float32)
        table[255] = np.nan
        return np.asarray(table)
    mantissa, bias = {"float8_e4m3fn": (3, 7), "float8_e5m2": (2, 15), "float8_e4m3fnuz": (3, 8)}.get(dtype, (2, 16))
    bits = np.arange(256)
    sign, exponent, fraction = bits >> 7, (bits >> mantissa) & ((1 << (7 - mantissa)) - 1), bits & ((1 << mantissa) - 1)
    normal = (1 + fraction / 2**mantissa) * np.exp2(exponent.astype(np.float64) - bias)
    value = np.where(exponent > 0, normal, fraction / 2**mantissa * 2.0 ** (1 - bias))
    table = np.where(sign == 1, -value, value).astype(np.float32)
    if dtype.endswith("fnuz"):
        table[128] = np.nan
    elif dtype == "float8_e4m3fn":
        table[[127, 255]] = np.nan
    else:
        table[[124, 252]] = np.inf, -np.inf
        table[[125, 126, 127, 253, 254, 255]] = np.nan
    return np.asarray(table)


def raw_array(tensor: Tensor) -> NDArray[Any]:
    """The tensor's bits as an array of its shape, in memory."""
    import numpy as np

    if tensor.pieces:
        out = np.zeros(tensor.shape, raw_dtype(tensor.dtype))
        for piece in tensor.pieces:
            place = tuple(slice(at, at + size) for at, size in zip(piece.start, piece.tensor.shape, strict=True))
            out[place] = raw_array(piece.tensor)
        return out
    storage = tensor.storage
    if storage is None or storage.extent is None or not tensor.fits:
        raise BadFile("the numbers of this tensor are not in the file.")
    if tensor.nbytes > max(4 * storage.extent.nbytes, 1 << 28):
        raise BadFile(f"{storage.extent.path}: a few stored bytes claim to be a tensor of {tensor.nbytes:,} bytes.")
    kind = raw_dtype(tensor.dtype, big=storage.big)
    data = read(storage.extent, tensor.offset * tensor.itemsize, tensor.span * tensor.itemsize)
    if len(data) != tensor.span * tensor.itemsize:
        raise BadFile(f"{storage.extent.path}: the file ends inside storage {storage.key!r}.")
    flat = np.frombuffer(data, kind)
    if tensor.contiguous:
        return flat.reshape(tensor.shape)
    steps = tuple(step * tensor.itemsize for step in tensor.stride)
    return np.lib.stride_tricks.as_strided(flat, tensor.shape, steps, writeable=False)


def array(tensor: Tensor) -> NDArray[Any]:
    """The tensor's numbers as an array; bfloat16 and float8 as float32."""
    return decode(raw_array(tensor), tensor.dtype)


def blocks(tensor: Tensor, size: int = CHUNK) -> Iterator[NDArray[Any]]:
    """The tensor's numbers in order, flat, a block at a time."""
    import numpy as np

    storage = tensor.storage
    if tensor.pieces or storage is None or storage.extent is None or not tensor.contiguous or storage.extent.deflated:
        flat = raw_array(tensor).reshape(-1)
        step = max(size // tensor.itemsize, 1)
        yield from (decode(flat[at : at + step], tensor.dtype) for at in range(0, len(flat), step))
        return
    if not tensor.fits:
        raise BadFile("the numbers of this tensor are not in the file.")
    kind = raw_dtype(tensor.dtype, big=storage.big)
    extent = storage.extent.part(tensor.offset * tensor.itemsize, tensor.nbytes)
    for data in chunks(extent, size // 16 * 16):
        if len(data) % tensor.itemsize:
            raise BadFile(f"{extent.path}: the file ends inside storage {storage.key!r}.")
        yield decode(np.frombuffer(data, kind), tensor.dtype)
