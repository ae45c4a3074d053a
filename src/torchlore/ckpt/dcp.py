"""torch.distributed.checkpoint folders: a pickle of metadata and the shards it points into."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from torchlore.ckpt.describe import Describer, Opaque
from torchlore.ckpt.files import Extent, stream, whole
from torchlore.ckpt.formats import inside
from torchlore.ckpt.machine import trace
from torchlore.ckpt.tensors import Piece, Tensor, contiguous
from torchlore.ckpt.torchfile import Checkpoint, load_zip
from torchlore.ckpt.values import BadFile, Call, Map, Value


def load_dcp(folder: Path) -> Checkpoint:
    """Read the metadata of a DCP folder and find each shard."""
    path = folder / ".metadata"
    source = whole(path)
    with stream(source) as file:
        done = trace(file)
    if done.fault:
        raise BadFile(f"{path}: the metadata breaks off at byte {done.end:,} ({done.fault}).")
    fields = _state(done.value)
    describer = Describer(lambda _key, _size: None, source)
    places: dict[str, list[tuple[Any, Extent | None]]] = {}
    for key, value in _pairs(fields.get("storage_data")):
        index, info = describer.plain(key), describer.plain(value)
        if isinstance(index, Opaque) and isinstance(info, Opaque):
            places.setdefault(str(index.state.get("fqn")), []).append((index.state.get("offset"), _place(folder, info)))
    paths = describer.plain(fields.get("planner_data"))
    root: dict[str, Any] = {}
    faults: list[str] = []
    for key, value in _pairs(fields.get("state_dict_metadata")):
        name, item = str(key), describer.plain(value)
        built = _item(name, item, places.get(name, []), faults)
        _put(root, paths.get(name) if isinstance(paths, dict) else None, name, built)
    return Checkpoint(str(folder), "DCP folder", root, faults, {"files": len(list(folder.glob("*.distcp")))})


def _state(value: Value) -> dict[str, Value]:
    if not isinstance(value, Call):
        return {}
    return {key: item for state in value.states for key, item in _pairs(state) if isinstance(key, str)}


def _pairs(value: Value) -> Iterator[tuple[Value, Value]]:
    if isinstance(value, Map):
        yield from value.pairs


def _place(folder: Path, info: Opaque) -> Extent | None:
    name, offset, length = (info.state.get(key) for key in ("relative_path", "offset", "length"))
    if (
        not isinstance(name, str)
        or not isinstance(offset, int)
        or not isinstance(length, int)
        or offset < 0
        or length < 0
    ):
        return None
    path = inside(folder, name)
    if not path.is_file() or info.state.get("transform_descriptors"):
        return None
    return Extent(str(path), offset, max(min(length, path.stat().st_size - offset), 0))


def _item(name: str, item: Any, places: list[tuple[Any, Extent | None]], faults: list[str]) -> Any:
    if not isinstance(item, Opaque):
        return item
    if not item.name.endswith("TensorStorageMetadata"):
        extent = places[0][1] if places else None
        return _inner(extent, name, faults)
    shape, properties = item.state.get("size"), item.state.get("properties")
    dtype = properties.state.get("dtype") if isinstance(properties, Opaque) else None
    if dtype is None and isinstance(properties, Opaque):
        dtype = next((value for value in properties.state.values() if isinstance(value, str)), None)
    pieces = []
    for offset, extent in places:
        inner = _inner(extent, name, faults)
        if isinstance(inner, Tensor):
            start = offset if isinstance(offset, tuple) else (0,) * len(inner.shape)
            pieces.append(Piece(start, inner))
    if not isinstance(shape, tuple) or not all(isinstance(size, int) and 0 <= size < 1 << 50 for size in shape):
        return Opaque("a tensor of impossible shape")
    if len(pieces) == 1 and pieces[0].tensor.shape == shape:
        return pieces[0].tensor
    kind = dtype if isinstance(dtype, str) else pieces[0].tensor.dtype if pieces else "float32"
    if not all(_lies_inside(piece, shape) for piece in pieces):
        return Opaque("a tensor whose shards do not fit")
    return Tensor(shape, kind, contiguous(shape), 0, None, pieces=tuple(pieces))


def _lies_inside(piece: Piece, shape: tuple[int, ...]) -> bool:
    sizes = piece.tensor.shape
    return len(sizes) == len(shape) == len(piece.start) and all(
        isinstance(at, int) and at >= 0 and at + size <= full
        for at, size, full in zip(piece.start, sizes, shape, strict=True)
    )


def _inner(extent: Extent | None, name: str, faults: list[str]) -> Any:
    if extent is None:
        faults.append(f"{name}: its shard is not there.")
        return Opaque("missing")
    try:
        return load_zip(extent).root
    except BadFile as error:
        faults.append(f"{name}: its shard is broken ({error}).")
        return Opaque("broken")


def _put(root: dict[str, Any], path: Any, name: str, value: Any) -> None:
    usable = isinstance(path, tuple) and 1 <= len(path) <= 64 and all(isinstance(part, str | int) for part in path)
    parts = path if usable else (name,)
    node = root
    for part in parts[:-1]:
        following = node.setdefault(part, {})
        if not isinstance(following, dict):
            node[name] = value
            return
        node = following
    node[parts[-1]] = value
