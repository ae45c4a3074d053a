"""Move weights: convert, average, compare, and save what a crash has left."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torchlore.ckpt.describe import Opaque
from torchlore.ckpt.files import Extent, chunks, read, whole
from torchlore.ckpt.reader import read_checkpoint, sniff
from torchlore.ckpt.tensors import Tensor, blocks, is_float
from torchlore.ckpt.torchfile import Checkpoint, describe
from torchlore.ckpt.values import BadFile
from torchlore.ckpt.weights import facts, groups, is_module, module_state, weights, without_prefix, wrapper_prefix
from torchlore.ckpt.write import Out, encode, out, overflows, write_safetensors, write_torch
from torchlore.ckpt.zips import Entry, directory, local_members

DTYPES = {"half": "float16", "fp16": "float16", "float16": "float16", "bf16": "bfloat16", "bfloat16": "bfloat16",
          "float32": "float32", "fp32": "float32", "float64": "float64"}  # fmt: skip


@dataclass(slots=True)
class Written:
    """What was written, and what was left out or changed on the way, a sentence each."""

    path: str
    tensors: int
    nbytes: int
    notes: list[str] = field(default_factory=list)


def _is_safetensors(path: Path) -> bool:
    return path.suffix in (".safetensors", ".sft")


def _save(state: dict[str, Out], path: Path, metadata: dict[str, str] | None = None) -> None:
    if _is_safetensors(path):
        write_safetensors(state, path, metadata)
    else:
        write_torch(state, path)


def convert(
    source: str | Path,
    target: str | Path,
    *,
    dtype: str | None = None,
    which: str | None = None,
    prefix: str | None = None,
    keep: str = "weights",
) -> Written:
    """Write a checkpoint anew: safetensors where the target ends so, else a file for torch.load(weights_only=True).

    Args:
        source: Any checkpoint; a whole-model pickle too, which is not run.
        target: The file to write.
        dtype: "float16", "bfloat16", … for the floating-point weights.
        which: The group of weights to take, "ema" for the averaged ones.
        prefix: A prefix to take off the keys, "auto" for those of wrappers.
        keep: "weights" for a plain state_dict, "no-optimizer" for everything but the optimizer, "all".

    Returns:
        What was written. Every tensor gets a storage of its own size.
    """
    checkpoint, path = read_checkpoint(source), Path(target)
    notes: list[str] = []
    kind = DTYPES.get(dtype, dtype) if dtype else None
    if keep != "weights":
        if _is_safetensors(path) or which:
            raise BadFile(f"{target}: only the weights fit there; leave out --keep, or write a .pt file.")
        tree = prune(_without_optimizer(checkpoint.root) if keep == "no-optimizer" else checkpoint.root, notes, kind)
        write_torch(_strip_groups(tree, prefix), path)
        return Written(str(target), _count(tree), path.stat().st_size, notes)
    state = _whole(checkpoint, weights(checkpoint, which), notes)
    state = _strip(state, prefix, notes)
    for key, tensor in state.items():
        if kind and overflows(tensor, kind):
            notes.append(f"{key} has numbers above 65504, which are infinite in float16; take bfloat16.")
    _save({key: out(tensor, kind) for key, tensor in state.items()}, path, _metadata(checkpoint))
    return Written(str(target), len(state), path.stat().st_size, notes)


def _whole(checkpoint: Checkpoint, state: dict[str, Tensor], notes: list[str]) -> dict[str, Tensor]:
    lost = [key for key, tensor in state.items() if not tensor.fits or tensor.kind in ("meta", "chunked")]
    if lost and checkpoint.format == "HDF5":
        raise BadFile(
            f"{checkpoint.path}: {lost[0]} is stored in compressed chunks, which are not read here; use h5py."
        )
    if lost:
        raise BadFile(
            f"{checkpoint.path}: {len(lost)} tensors are not whole, first {lost[0]!r}; try `lore ckpt repair`."
        )
    quantized = [key for key, tensor in state.items() if tensor.kind == "quantized"]
    if quantized:
        notes.append(f"{len(quantized)} quantized tensors lose their scale and zero point, first {quantized[0]!r}.")
    return state


def _strip(state: dict[str, Any], prefix: str | None, notes: list[str]) -> dict[str, Any]:
    if prefix is None:
        found = wrapper_prefix(state)
        if found:
            notes.append(f"every key begins with {found!r}; --strip-prefix takes it off.")
        return state
    return without_prefix(state, None if prefix == "auto" else prefix)


def _strip_groups(tree: Any, prefix: str | None) -> Any:
    if prefix is None or not isinstance(tree, dict):
        return tree
    if tree and all(isinstance(item, Out) for item in tree.values()):
        return without_prefix(tree, None if prefix == "auto" else prefix)
    return {key: _strip_groups(item, prefix) if _names(item) else item for key, item in tree.items()}


def _names(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and bool(value)
        and all(isinstance(key, str) for key in value)
        and "param_groups" not in value
    )


def _without_optimizer(root: Any) -> Any:
    if not isinstance(root, dict):
        return root
    return {
        key: value
        for key, value in root.items()
        if not any(word in str(key).lower() for word in ("optim", "sched", "scaler"))
    }


def _metadata(checkpoint: Checkpoint) -> dict[str, str]:
    saved = checkpoint.details.get("metadata")
    base = {str(key): str(value) for key, value in saved.items()} if isinstance(saved, dict) else {}
    return base or {
        key: str(value) for key, value in facts(checkpoint.root).items() if isinstance(value, int | float | bool)
    }


def prune(value: Any, notes: list[str], dtype: str | None = None, path: str = "", depth: int = 0) -> Any:
    """The tree as it can be written: whole tensors and plain values; what is left out is noted."""
    if is_module(value):
        value = dict(module_state(value))
    if isinstance(value, dict) and depth <= 90:
        parts = {key: prune(item, notes, dtype, f"{path}/{key}".lstrip("/"), depth + 1) for key, item in value.items()}
        return {key: item for key, item in parts.items() if item is not None or value[key] is None}
    if isinstance(value, list | tuple) and depth <= 90:
        items = [prune(item, notes, dtype, f"{path}/{number}", depth + 1) for number, item in enumerate(value)]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, Tensor) and value.fits and value.kind not in ("meta", "chunked"):
        return out(value, dtype)
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return value
    notes.append(f"{path} {_left_out(value)}, left out.")
    return None


def _left_out(value: Any) -> str:
    if isinstance(value, Tensor):
        return "is not whole"
    return f"is an object of {value.name}" if isinstance(value, Opaque) else "is nested too deeply"


def _count(tree: Any) -> int:
    if isinstance(tree, Out):
        return 1
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list | tuple) else ()
    return sum(_count(item) for item in parts)


# average ----------------------------------------------------------------------------------------------------------------


def average(sources: list[str | Path], target: str | Path, *, which: str | None = None) -> Written:
    """Write the mean of the weights of several checkpoints; whole numbers come from the last one."""
    if len(sources) < 2:
        raise BadFile("an average needs two checkpoints or more.")
    opened = [read_checkpoint(source) for source in sources]
    states = [without_prefix(_whole(one, weights(one, which), [])) for one in opened]
    for source, state in zip(sources[1:], states[1:], strict=True):
        _same(str(sources[0]), states[0], str(source), state)
    broken: set[str] = set()
    result = {key: _mean(key, [state[key] for state in states], broken) for key in states[0]}
    notes = []
    if any(key.endswith("running_var") for key in result):
        notes.append("BatchNorm's statistics were averaged too; recompute them on training data where that matters.")
    _save(result, Path(target))
    if broken:
        notes.append(
            f"{min(broken)} holds NaN now, as a checkpoint that went in is broken there: `lore ckpt show` says which."
        )
    return Written(str(target), len(result), Path(target).stat().st_size, notes)


def _mean(key: str, parts: list[Tensor], broken: set[str]) -> Out:
    """The mean of one tensor of each checkpoint; its key is added to `broken` where NaN comes out."""
    first = parts[0]
    if not is_float(first.dtype) or "complex" in first.dtype:
        return out(parts[-1])

    def make() -> Iterator[bytes]:
        import numpy as np

        for together in zip(*(_aligned(part) for part in parts), strict=True):
            total = np.sum([np.asarray(block, np.float64) for block in together], axis=0)
            if np.isnan(total).any():
                broken.add(key)
            yield encode(total / len(parts), first.dtype).tobytes()

    return Out(first.shape, first.dtype, make=make)


def _same(name: str, first: dict[str, Tensor], other_name: str, other: dict[str, Tensor]) -> None:
    odd = sorted(set(first) ^ set(other))
    if odd:
        raise BadFile(f"{name} and {other_name} do not have the same keys: {len(odd)} differ, first {odd[0]!r}.")
    for key, tensor in first.items():
        if tensor.shape != other[key].shape:
            raise BadFile(f"{key} is {tensor.shape} in {name} and {other[key].shape} in {other_name}.")


# diff -------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Change:
    """How far one tensor of two checkpoints lies apart."""

    key: str
    largest: float  # the largest absolute difference
    relative: float  # the norm of the difference over the norm of the first
    numel: int


@dataclass(slots=True)
class Difference:
    """How two checkpoints differ."""

    only_first: list[str]
    only_second: list[str]
    shapes: dict[str, tuple[tuple[int, ...], tuple[int, ...]]]
    dtypes: dict[str, tuple[str, str]]
    changes: list[Change]  # largest first
    same: int
    unread: list[str] = field(default_factory=list)

    @property
    def equal(self) -> bool:
        """Whether nothing differs."""
        return not (self.only_first or self.only_second or self.shapes or self.dtypes or self.changes or self.unread)


def diff(first: str | Path, second: str | Path, *, which: str | None = None) -> Difference:
    """Compare the weights of two checkpoints; prefixes of wrappers are taken off when only one has them."""
    a, b = (weights(read_checkpoint(path), which) for path in (first, second))
    if wrapper_prefix(a) != wrapper_prefix(b):
        a, b = without_prefix(a), without_prefix(b)
    common = [key for key in a if key in b]
    shapes = {key: (a[key].shape, b[key].shape) for key in common if a[key].shape != b[key].shape}
    dtypes = {key: (a[key].dtype, b[key].dtype) for key in common if a[key].dtype != b[key].dtype}
    result = Difference([key for key in a if key not in b], [key for key in b if key not in a], shapes, dtypes, [], 0)
    for key in common:
        if key in shapes:
            continue
        if not a[key].fits or not b[key].fits:
            result.unread.append(key)
            continue
        change = distance(key, a[key], b[key])
        if change.largest == 0:
            result.same += 1
        else:
            result.changes.append(change)
    result.changes.sort(
        key=lambda change: (-change.relative if change.relative == change.relative else float("-inf"), change.key)
    )
    return result


def distance(key: str, first: Tensor, second: Tensor) -> Change:
    """The distance of two tensors of one shape, a block at a time."""
    import numpy as np

    largest = square = norm = 0.0
    with np.errstate(invalid="ignore", over="ignore"):
        for a, b in zip(_aligned(first), _aligned(second), strict=True):
            gap = np.abs(np.asarray(a, np.complex128 if np.iscomplexobj(a) else np.float64) - b)
            equal = (a == b) | (np.isnan(gap) & np.isnan(a) & np.isnan(b)) if is_float(first.dtype) else a == b
            gap = np.where(equal, 0.0, gap)
            largest = max(largest, float(gap.max(initial=0.0))) if not np.isnan(gap).any() else float("nan")
            square += float((gap**2).sum())
            norm += float((np.abs(np.asarray(a, np.complex128 if np.iscomplexobj(a) else np.float64)) ** 2).sum())
    relative = (square / norm) ** 0.5 if norm > 0 else float("inf") if square else 0.0
    return Change(key, largest, relative, first.numel)


def _aligned(tensor: Tensor) -> Any:
    """Blocks of the same number of elements whatever the dtype."""
    return blocks(tensor, (1 << 20) * tensor.itemsize)


# repair -----------------------------------------------------------------------------------------------------------------


def repair(source: str | Path, target: str | Path) -> Written:
    """Save the tensors of a damaged checkpoint that are whole; what is lost is noted.

    Reads a zip whose directory is missing by its members' own headers, and leaves out members whose checksum is wrong.
    """
    checkpoint = _salvage(Path(source))
    notes: list[str] = []
    path = Path(target)
    if _is_safetensors(path):
        found = weights(checkpoint)
        whole_ = {key: out(tensor) for key, tensor in found.items() if tensor.fits and tensor.kind != "meta"}
        notes += [f"{key} is not whole, left out." for key in found if key not in whole_]
        write_safetensors(whole_, path)
        count = len(whole_)
    else:
        tree = prune(checkpoint.root, notes)
        count = _count(tree)
        if not count:
            raise BadFile(f"{source}: no tensor of it is whole, so there is nothing to save.")
        write_torch(tree, path)
    return Written(str(target), count, path.stat().st_size, notes)


def _salvage(path: Path) -> Checkpoint:
    if not path.is_file() or sniff(whole(path)) != "zip":
        return read_checkpoint(path)
    archive = whole(path)
    try:
        members = {entry.name: entry for entry in directory(archive).entries}
        broken = _bad_checksums(list(members.values()))
    except BadFile:
        members, broken = {}, set()
        for entry in local_members(archive):
            members.setdefault(entry.name, entry)
    return _from_members(archive, members, broken)


def _bad_checksums(entries: list[Entry]) -> set[str]:
    bad = {entry.name for entry in entries if entry.crc and _checksum(entry.extent) != entry.crc}
    return bad if len(bad) < len(entries) / 2 else set()  # torch can be told to write none


def _checksum(extent: Extent) -> int:
    value = 0
    for data in chunks(extent):
        value = zlib.crc32(data, value)
    return value


def _from_members(archive: Extent, members: dict[str, Entry], broken: set[str]) -> Checkpoint:
    name = next((name for name in members if name.split("/")[-1] == "data.pkl"), None)
    if name is None:
        raise BadFile(f"{archive.path}: its data.pkl is lost, and with it the names of all tensors.")
    prefix = name[: -len("data.pkl")]

    def locate(key: str, nbytes: int) -> Extent | None:
        entry = members.get(f"{prefix}data/{key}")
        if entry is None or entry.name in broken:
            return None
        if entry.extent.deflated:
            return entry.extent
        start = entry.extent.offset - archive.offset
        return archive.part(start, max(min(nbytes, archive.nbytes - start), 0))

    order = members.get(f"{prefix}byteorder")
    byteorder = "big" if order and read(order.extent, 0, 3) == b"big" else "little"
    described = describe(members[name].extent, locate, byteorder)
    if described.root is None:
        raise BadFile(f"{archive.path}: its data.pkl is cut off, and with it the names of all tensors.")
    return Checkpoint(archive.path, "torch zip", described.root, described.faults)


def summary(checkpoint: Checkpoint) -> dict[str, int]:
    """Bytes of each group of weights."""
    return {name: sum(tensor.nbytes for tensor in state.values()) for name, state in groups(checkpoint.root).items()}
