"""From what a pickle would build to plain dicts, lists, numbers and tensors.

Known rebuild functions are understood; everything else is written down as an `Opaque` object.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torchlore.ckpt.files import Extent, read
from torchlore.ckpt.machine import fold
from torchlore.ckpt.stack import MAX_HELD
from torchlore.ckpt.tensors import ITEMSIZE, Storage, Tensor, contiguous
from torchlore.ckpt.values import Blob, Call, Global, Map, Persistent, Seq, Value, arguments, brief, is_global

MAX_DEPTH = 200
MAX_NODES = 3_000_000

STORAGE_DTYPE = {
    "FloatStorage": "float32", "DoubleStorage": "float64", "HalfStorage": "float16", "BFloat16Storage": "bfloat16",
    "LongStorage": "int64", "IntStorage": "int32", "ShortStorage": "int16", "CharStorage": "int8",
    "ByteStorage": "uint8", "BoolStorage": "bool", "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128", "QUInt8Storage": "quint8", "QInt8Storage": "qint8",
    "QInt32Storage": "qint32", "QUInt4x2Storage": "quint4x2", "QUInt2x4Storage": "quint2x4", "UntypedStorage": "uint8",
    "TypedStorage": "uint8",
}  # fmt: skip
_NUMPY_CODES = {
    "f8": "float64", "f4": "float32", "f2": "float16", "i8": "int64", "i4": "int32", "i2": "int16", "i1": "int8",
    "u8": "uint64", "u4": "uint32", "u2": "uint16", "u1": "uint8", "b1": "bool", "c8": "complex64", "c16": "complex128",
}  # fmt: skip
_DTYPE_ALIASES = {
    "float": "float32", "double": "float64", "half": "float16", "long": "int64", "int": "int32", "short": "int16",
    "cfloat": "complex64", "cdouble": "complex128", "chalf": "complex32",
}  # fmt: skip


@dataclass(slots=True, eq=False)
class Opaque:
    """An object of a class that is not understood: its name and the state it was saved with."""

    name: str
    state: dict[Any, Any] = field(default_factory=dict)
    arguments: tuple[Any, ...] = ()


@dataclass(slots=True)
class Describer:
    """One pickle's values turned into plain ones, each once."""

    locate: Callable[[str, int], Extent | None]  # a storage's key and size in bytes -> its bytes
    origin: Extent  # the pickle's own bytes, for arrays that lie inside it
    byteorder: str = "little"
    special: Callable[[Any], Any] | None = None  # legacy tar: persistent ids that are whole tensors
    level: int = 0  # how many pickles deep this one lies
    memo: dict[int, Any] = field(default_factory=dict)
    keep: list[Value] = field(default_factory=list)  # so that no id is used twice
    nodes: int = 0
    held: int = 0  # bytes of arrays that had to be decoded into memory

    def plain(self, value: Value, depth: int = 0) -> Any:
        """The plain form of a value."""
        if value is None or isinstance(value, bool | int | float | str | bytes):
            return value
        if id(value) in self.memo:
            return self.memo[id(value)]
        self.nodes += 1
        if depth > MAX_DEPTH or self.nodes > MAX_NODES:
            return Opaque("…")
        self.memo[id(value)] = Opaque("…")  # what a cycle through a tuple or an object gives
        self.keep.append(value)
        result = self._convert(value, depth + 1)
        self.memo[id(value)] = result
        return result

    def _convert(self, value: Value, depth: int) -> Any:
        if isinstance(value, Map):
            return self._dict(value.pairs, depth, self._register(value, {}))
        if isinstance(value, Seq):
            return self._sequence(value, depth)
        if isinstance(value, Call):
            return _call(self, value, depth)
        if isinstance(value, Persistent):
            return self.persistent(value, depth)
        if isinstance(value, Global):
            return dtype_name(value) or Opaque(value.path)
        return Opaque(brief(value))

    def _sequence(self, value: Seq, depth: int) -> Any:
        if value.kind != "list":
            return tuple(self.plain(item, depth) for item in value.items)
        out: list[Any] = self._register(value, [])
        out += [self.plain(item, depth) for item in value.items]
        return out

    def _register(self, value: Value, empty: Any) -> Any:
        self.memo[id(value)] = empty
        return empty

    def _dict(self, pairs: list[tuple[Value, Value]], depth: int, out: dict[Any, Any]) -> dict[Any, Any]:
        for key, item in pairs:
            out[self.key(key, depth)] = self.plain(item, depth)
        return out

    def key(self, key: Value, depth: int) -> Any:
        """A dict's key: plain where it is, else its text."""
        if key is None or isinstance(key, bool | int | float | str | bytes):
            return key
        plain = self.plain(key, depth)
        if isinstance(plain, tuple) and all(item is None or isinstance(item, str | int | float) for item in plain):
            return plain
        return plain.name if isinstance(plain, Opaque) else f"<{type(plain).__name__} {self.nodes}>"

    def persistent(self, value: Persistent, depth: int) -> Any:
        """A storage, a class saved with its source, or an object of the legacy tar format."""
        identity = value.identity
        if self.special is not None:
            return self.special(self.plain(identity, depth))
        if not isinstance(identity, Seq) or not identity.items:
            return Opaque("persistent object")
        tag = self.plain(identity.items[0], depth)
        if tag == "module" and len(identity.items) > 1 and isinstance(identity.items[1], Global):
            return Opaque(identity.items[1].path)
        if tag not in ("storage", b"storage") or len(identity.items) < 5:
            return Opaque("persistent object")
        return self._storage(identity.items, depth)

    def _storage(self, items: list[Value], depth: int) -> Any:
        kind = items[1]
        name = kind.name if isinstance(kind, Global) else "UntypedStorage"
        dtype = STORAGE_DTYPE.get(name.split(".")[-1], "uint8")
        key, device, numel = (self.plain(item, depth) for item in items[2:5])
        if not isinstance(numel, int) or not 0 <= numel < 1 << 50:
            return Opaque("a storage of impossible size")
        nbytes = numel * ITEMSIZE[dtype]
        extent = self.locate(str(key), nbytes)
        if (
            len(items) > 5 and isinstance(view := self.plain(items[5], depth), tuple) and len(view) == 3
        ):  # a view of a storage
            start, count = view[1], view[2]
            if (
                extent
                and not extent.deflated
                and isinstance(start, int)
                and isinstance(count, int)
                and 0 <= start <= numel
            ):
                size = ITEMSIZE[dtype]
                extent = extent.part(start * size, max(min(count * size, extent.nbytes - start * size), 0))
                nbytes, key = count * size, view[0]
        return Storage(str(key), dtype, str(device), nbytes, extent, self.byteorder == "big")


def dtype_name(value: Value) -> str:
    """The dtype that `torch.float32` and its aliases mean, or nothing."""
    if not isinstance(value, Global) or value.module != "torch":
        return ""
    name = _DTYPE_ALIASES.get(value.name, value.name)
    return name if name in ITEMSIZE else ""


def _ints(value: Any) -> tuple[int, ...] | None:
    if isinstance(value, tuple | list) and all(isinstance(item, int) and 0 <= item < 1 << 50 for item in value):
        return tuple(value)
    return None


def _call(describer: Describer, call: Call, depth: int) -> Any:
    function = call.function
    path = function.path if isinstance(function, Global) else ""
    handler = _HANDLERS.get(path)
    if handler is not None:
        return handler(describer, call, depth)
    if path in _MAPPINGS:
        return _mapping(describer, call, depth)
    if path in _SEQUENCES:
        return _sequence(describer, call, depth)
    return _object(describer, call, depth)


def _tensor(d: Describer, call: Call, depth: int) -> Any:
    given = [d.plain(item, depth) for item in arguments(call)[:8]]
    if len(given) < 4 or not isinstance(given[0], Storage):
        return Opaque("a tensor without a storage")
    storage, offset, shape, stride = given[0], given[1], _ints(given[2]), _ints(given[3])
    if (
        shape is None
        or stride is None
        or len(shape) != len(stride)
        or len(shape) > 64
        or not isinstance(offset, int)
        or offset < 0
    ):
        return Opaque("a tensor of impossible shape")
    version3 = is_global(call.function, "torch._utils._rebuild_tensor_v3")
    dtype = given[6] if version3 and len(given) > 6 and isinstance(given[6], str) else storage.dtype
    kind = "quantized" if is_global(call.function, "torch._utils._rebuild_qtensor") else "dense"
    grad = len(given) > 4 and given[5 if kind == "quantized" else 4] is True
    return Tensor(shape, dtype, stride, offset, storage, grad, kind)


def _parameter(d: Describer, call: Call, depth: int) -> Any:
    given = arguments(call)
    inner = d.plain(given[0], depth) if given else None
    if not isinstance(inner, Tensor):
        return Opaque("torch.nn.parameter.Parameter")
    grad = not (len(given) > 1 and given[1] is False)
    return Tensor(inner.shape, inner.dtype, inner.stride, inner.offset, inner.storage, grad, inner.kind, inner.pieces)


def _from_type(d: Describer, call: Call, depth: int) -> Any:
    given = arguments(call)
    if len(given) < 3 or not isinstance(given[2], Seq):
        return _object(d, call, depth)
    return d.plain(Call(given[0], given[2], call.position, call.opcode), depth)


def _meta(d: Describer, call: Call, depth: int) -> Any:
    given = [d.plain(item, depth) for item in arguments(call)]
    shape = _ints(given[1]) if len(given) > 1 else None
    if shape is None or not isinstance(given[0], str):
        return Opaque("a meta tensor")
    return Tensor(shape, given[0], contiguous(shape), 0, None, kind="meta")


def _sparse(d: Describer, call: Call, depth: int) -> Any:
    given = [d.plain(item, depth) for item in arguments(call)]
    data = given[1] if len(given) > 1 and isinstance(given[1], tuple) else ()
    values = next((item for item in data[1:] if isinstance(item, Tensor) and is_floatish(item)), None)
    shape = next((ints for item in data[1:] if isinstance(item, tuple) and (ints := _ints(item)) is not None), None)
    if values is None or shape is None:
        return Opaque("a sparse tensor", {"parts": list(data)})
    return Opaque("a sparse tensor", {"shape": shape, "values": values, "indices": data[0]})


def is_floatish(tensor: Tensor) -> bool:
    """Whether it holds values and not indices."""
    return tensor.dtype not in ("int64", "int32") or len(tensor.shape) != 2


def _size(d: Describer, call: Call, depth: int) -> Any:
    given = arguments(call)
    return d.plain(given[0], depth) if given else ()


def _bytes(_d: Describer, call: Call, _depth: int) -> Any:
    folded = fold(call)
    return folded if isinstance(folded, str | bytes) else Opaque("encoded text")


def _plain_bytes(_d: Describer, call: Call, _depth: int) -> Any:
    given = [fold(item) for item in arguments(call)]
    if not given:
        return b""
    return given[0] if isinstance(given[0], bytes) else Opaque("builtins.bytes")


def _numpy_dtype(_d: Describer, call: Call, _depth: int) -> Any:
    given = arguments(call)
    code = given[0] if given and isinstance(given[0], str) else "?"
    state = call.states[0].items if call.states and isinstance(call.states[0], Seq) else []
    big = len(state) > 1 and state[1] == ">"
    return _NumpyType(_NUMPY_CODES.get(code.lstrip("<>|="), code), big or code.startswith(">"))


@dataclass(frozen=True, slots=True)
class _NumpyType:
    name: str
    big: bool


def _numpy_array(d: Describer, call: Call, depth: int) -> Any:
    state = call.states[0].items if call.states and isinstance(call.states[0], Seq) else []
    if len(state) < 5:
        return Opaque("numpy.ndarray")
    shape, kind, fortran = _ints(d.plain(state[1], depth)), d.plain(state[2], depth), state[3] is True
    data = fold(state[4])
    if isinstance(data, Call) and is_global(data.function, "_codecs.encode") and arguments(data):
        data = arguments(data)[0]  # too long to fold
    return _array(d, shape, kind, data, fortran=fortran)


def _array(d: Describer, shape: tuple[int, ...] | None, kind: Any, data: Value, *, fortran: bool) -> Any:
    if shape is None or not isinstance(kind, _NumpyType) or kind.name not in ITEMSIZE or len(shape) > 64:
        return Opaque("numpy.ndarray", {"shape": shape})
    if isinstance(data, Blob) and (data.text or d.origin.deflated):
        data = _decoded(d, data)
    if isinstance(data, Blob):
        extent = d.origin.part(data.offset, data.length)
    elif isinstance(data, str | bytes):
        raw = data if isinstance(data, bytes) else data.encode("latin-1", "replace")
        extent = Extent(d.origin.path, 0, len(raw), data=raw)
    else:
        return Opaque("numpy.ndarray", {"shape": shape})
    stride = contiguous(shape[::-1])[::-1] if fortran else contiguous(shape)
    storage = Storage("", kind.name, "cpu", extent.nbytes, extent, kind.big)
    return Tensor(shape, kind.name, stride, 0, storage, kind="numpy")


def _decoded(d: Describer, blob: Blob) -> bytes | None:
    """The bytes of an array that is compressed, or that protocol 2 has written as text."""
    d.held += blob.length
    if d.held > MAX_HELD:
        return None
    data = read(d.origin, blob.offset, blob.length)
    return data.decode("utf-8", "replace").encode("latin-1", "replace") if blob.text else data


def _from_buffer(d: Describer, call: Call, depth: int) -> Any:
    given = arguments(call)
    if len(given) < 4:
        return Opaque("numpy.ndarray")
    return _array(d, _ints(d.plain(given[2], depth)), d.plain(given[1], depth), given[0], fortran=given[3] == "F")


def _joblib_array(d: Describer, call: Call, depth: int) -> Any:
    fields = d.plain(call.states[0], depth) if call.states else {}
    if not isinstance(fields, dict) or not call.items:
        return Opaque("numpy.ndarray")
    return _array(d, _ints(fields.get("shape")), fields.get("dtype"), call.items[0], fortran=fields.get("order") == "F")


def _numpy_scalar(d: Describer, call: Call, depth: int) -> Any:
    given = arguments(call)
    kind = d.plain(given[0], depth) if given else None
    raw = fold(given[1]) if len(given) > 1 else None
    if isinstance(raw, str):
        raw = raw.encode("latin-1", "replace")
    if not isinstance(kind, _NumpyType) or not isinstance(raw, bytes) or ITEMSIZE.get(kind.name) != len(raw):
        return Opaque("numpy scalar")
    if kind.name not in _SCALARS:
        return Opaque(f"numpy.{kind.name}")
    import struct

    return struct.unpack((">" if kind.big else "<") + _SCALARS[kind.name], raw)[0]


_SCALARS = {
    "float64": "d", "float32": "f", "float16": "e", "int64": "q", "int32": "i", "int16": "h", "int8": "b",
    "uint64": "Q", "uint32": "I", "uint16": "H", "uint8": "B", "bool": "?",
}  # fmt: skip


def _storage_in_bytes(d: Describer, call: Call, _depth: int) -> Any:
    """A storage that plain `pickle` saved: a whole torch file inside bytes."""
    from torchlore.ckpt.torchfile import load_nested

    data = fold(arguments(call)[0]) if arguments(call) else None
    if isinstance(data, bytes):
        return load_nested(Extent(d.origin.path, 0, len(data), data=data), d.level + 1)
    if isinstance(data, Blob) and not data.text and not d.origin.deflated:
        return load_nested(d.origin.part(data.offset, data.length), d.level + 1)
    return Opaque("a storage")


def _path(d: Describer, call: Call, depth: int) -> Any:
    parts = [part for part in (d.plain(item, depth) for item in arguments(call)) if isinstance(part, str)]
    return "/".join(parts).replace("//", "/")


def _mapping(d: Describer, call: Call, depth: int) -> Any:
    out: dict[Any, Any] = {}
    d.memo[id(call)] = out
    for given in arguments(call)[:2]:
        inner = d.plain(given, depth)
        if isinstance(inner, dict):
            out.update(inner)
        elif isinstance(inner, list | tuple):  # OrderedDict([[key, value], …]) of Python 2
            out.update(
                {
                    pair[0]: pair[1]
                    for pair in inner
                    if isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str | int)
                }
            )
    for key, value in call.pairs:
        out[d.key(key, depth)] = d.plain(value, depth)
    return out


def _sequence(d: Describer, call: Call, depth: int) -> Any:
    out: list[Any] = []
    d.memo[id(call)] = out
    for given in arguments(call)[:1]:
        inner = d.plain(given, depth)
        out += inner if isinstance(inner, list | tuple) else []
    out += [d.plain(item, depth) for item in call.items]
    return out


def _object(d: Describer, call: Call, depth: int) -> Any:
    function = call.function
    if is_global(function, "copyreg._reconstructor", "copyreg.__newobj__", "copyreg.__newobj_ex__") and arguments(call):
        function = arguments(call)[0]
    if isinstance(function, Persistent):
        saved = d.persistent(function, depth)
        name = saved.name if isinstance(saved, Opaque) else "object"
    else:
        name = function.path if isinstance(function, Global) else "object"
    out = Opaque(name)
    d.memo[id(call)] = out
    out.arguments = tuple(d.plain(item, depth) for item in arguments(call)[:16])
    for state in call.states:
        plain = d.plain(state, depth)
        pieces = plain if isinstance(plain, tuple) else (plain,)
        for piece in pieces:
            if isinstance(piece, dict):
                out.state.update(piece)
    if call.pairs:
        out.state.update({d.key(key, depth): d.plain(value, depth) for key, value in call.pairs})
    if call.items:
        out.state["items"] = [d.plain(item, depth) for item in call.items]
    return out


def _namespace(d: Describer, call: Call, depth: int) -> Any:
    return _object(d, call, depth).state


_MAPPINGS = {
    "collections.OrderedDict", "builtins.dict", "collections.defaultdict", "collections.Counter",
    "lightning.fabric.utilities.data.AttributeDict", "lightning_fabric.utilities.data.AttributeDict",
    "lightning.pytorch.utilities.parsing.AttributeDict", "pytorch_lightning.utilities.parsing.AttributeDict",
}  # fmt: skip
_SEQUENCES = {"builtins.list", "builtins.set", "builtins.frozenset", "builtins.tuple", "collections.deque"}
_HANDLERS: dict[str, Callable[[Describer, Call, int], Any]] = {
    "torch._utils._rebuild_tensor": _tensor,
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch._utils._rebuild_tensor_v3": _tensor,
    "torch._utils._rebuild_qtensor": _tensor,
    "torch._utils._rebuild_parameter": _parameter,
    "torch._utils._rebuild_parameter_with_state": _parameter,
    "torch.nn.parameter.Parameter": _parameter,
    "torch.nn.parameter.Buffer": _parameter,
    "torch._tensor._rebuild_from_type_v2": _from_type,
    "torch._tensor._rebuild_from_type": _from_type,
    "torch._utils._rebuild_meta_tensor_no_storage": _meta,
    "torch._utils._rebuild_device_tensor_from_cpu_tensor": _parameter,
    "torch._utils._rebuild_device_tensor_from_numpy": _parameter,
    "torch._utils._rebuild_xla_tensor": _parameter,
    "torch._utils._rebuild_sparse_tensor": _sparse,
    "torch.Size": _size,
    "torch.device": _size,
    "torch.torch_version.TorchVersion": _size,
    "builtins.bytearray": _size,
    "builtins.bytes": _plain_bytes,
    "torch.serialization._get_layout": _size,
    "torch.jit._pickle.restore_type_tag": _size,
    "torch.jit._pickle.build_intlist": _size,
    "torch.jit._pickle.build_tensorlist": _size,
    "torch.jit._pickle.build_doublelist": _size,
    "torch.jit._pickle.build_boollist": _size,
    "torch.storage._load_from_bytes": _storage_in_bytes,
    "_codecs.encode": _bytes,
    "numpy.dtype": _numpy_dtype,
    "numpy.core.multiarray._reconstruct": _numpy_array,
    "numpy._core.multiarray._reconstruct": _numpy_array,
    "numpy.core.numeric._frombuffer": _from_buffer,
    "numpy._core.numeric._frombuffer": _from_buffer,
    "numpy.core.multiarray.scalar": _numpy_scalar,
    "numpy._core.multiarray.scalar": _numpy_scalar,
    "joblib.numpy_pickle.NumpyArrayWrapper": _joblib_array,
    "argparse.Namespace": _namespace,
    "types.SimpleNamespace": _namespace,
    **{
        f"{module}.{name}": _path
        for module in ("pathlib", "pathlib._local")
        for name in ("Path", "PosixPath", "WindowsPath", "PurePath", "PurePosixPath", "PureWindowsPath")
    },
}
