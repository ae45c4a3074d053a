"""What is wrong with the numbers and the storages of a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torchlore.ckpt.files import read
from torchlore.ckpt.tensors import Storage, Tensor, blocks, decode, is_float, raw_dtype
from torchlore.ckpt.torchfile import Checkpoint
from torchlore.ckpt.values import BadFile
from torchlore.ckpt.weights import groups, main_group, resume_parts, tensors, wrapper_prefix
from torchlore.finding import Finding, Severity

if TYPE_CHECKING:
    from numpy.typing import NDArray

SAMPLE_TOTAL = 384 << 20  # bytes of numbers that are read by default, over all tensors
SAMPLE_LEAST, SAMPLE_MOST = 64 << 10, 1 << 20  # bytes a tensor
STRIPES = 16


@dataclass(slots=True)
class Stats:
    """What the numbers of one tensor look like, as far as they were read."""

    checked: int = 0
    nan: int = 0
    inf: int = 0
    denormal: int = 0
    low: float = float("inf")
    high: float = float("-inf")
    complete: bool = True

    @property
    def zero(self) -> bool:
        """Whether every number that was read is zero."""
        return self.checked > 0 and self.low == self.high == 0 and not self.nan


def sample_size(count: int) -> int:
    """Bytes to read of each tensor so that the whole stays within seconds."""
    return max(min(SAMPLE_TOTAL // max(count, 1), SAMPLE_MOST), SAMPLE_LEAST)


def stats(tensor: Tensor, sample: int | None = None) -> Stats:
    """Count NaN, Inf and denormals, find the range. `sample` bounds the bytes read, spread over the tensor.

    A tensor whose sample is all zero is read to the end, or to its first other number.
    """
    import numpy as np

    found = Stats()
    with np.errstate(invalid="ignore"):
        for block in _sampled(tensor, sample, found):
            _add(found, block, tensor.dtype)
        if found.zero and not found.complete:
            found.complete = True
            for block in blocks(tensor):
                _add(found, block, tensor.dtype)
                if not found.zero:
                    found.complete = False
                    break
    return found


def _sampled(tensor: Tensor, sample: int | None, found: Stats) -> Iterator[NDArray[Any]]:
    import numpy as np

    if tensor.pieces:
        for piece in tensor.pieces:
            yield from _sampled(piece.tensor, sample, found)
        return
    storage = tensor.storage
    if storage is None or storage.extent is None:
        return
    if sample is None or tensor.nbytes <= sample or storage.extent.deflated:
        yield from blocks(tensor)
        return
    found.complete = False
    start, total = tensor.offset * tensor.itemsize, tensor.span * tensor.itemsize
    step, kind = total // STRIPES, raw_dtype(tensor.dtype, big=storage.big)
    for index in range(STRIPES):
        at = index * step // 16 * 16
        data = read(storage.extent, start + at, min(sample // STRIPES // 16 * 16, total - at))
        yield decode(np.frombuffer(data[: len(data) // tensor.itemsize * tensor.itemsize], kind), tensor.dtype)


def _add(found: Stats, block: NDArray[Any], dtype: str) -> None:
    import numpy as np

    if not block.size:
        return
    if np.iscomplexobj(block):
        block = np.ascontiguousarray(block).view(block.real.dtype)
    found.checked += block.size
    low, high = float(block.min()), float(block.max())
    if is_float(dtype):
        if not (np.isfinite(low) and np.isfinite(high)):
            found.nan += int(np.isnan(block).sum())
            found.inf += int(np.isinf(block).sum())
            block = block[np.isfinite(block)]
            low, high = (float(block.min()), float(block.max())) if block.size else (np.inf, -np.inf)
        part = np.abs(block[:65536])
        tiny = {"float16": 2.0**-14, "float64": 2.0**-1022}.get(dtype, 2.0**-126)
        found.denormal += int(((part < tiny) & (part > 0)).sum())
    found.low, found.high = min(found.low, low), max(found.high, high)


# findings ---------------------------------------------------------------------------------------------------------------


def inspect(checkpoint: Checkpoint, *, full: bool = False, numbers: bool = True) -> list[Finding]:
    """Everything worth saying about a checkpoint, gravest first.

    `numbers=False` leaves the tensors' contents alone; `full` reads all of them instead of a sample.
    """
    every = tensors(checkpoint.root)
    found = [_say("broken-checkpoint", fault, Severity.ERROR, checkpoint) for fault in checkpoint.faults]
    found += _places(checkpoint, every)
    found += _prefix(checkpoint)
    found += _resume(checkpoint)
    if numbers:
        sample = None if full else sample_size(len(every))
        for key, tensor in every.items():
            if _readable(tensor):
                found += _numbers(checkpoint, key, tensor, sample)
    return sorted(found, key=lambda finding: finding.severity.rank)


def _readable(tensor: Tensor) -> bool:
    has_bytes = tensor.pieces or (tensor.storage is not None and tensor.storage.extent is not None)
    return bool(has_bytes) and tensor.fits and tensor.numel > 0


def _say(slug: str, message: str, severity: Severity, checkpoint: Checkpoint, evidence: str = "") -> Finding:
    return Finding(slug, message, severity, checkpoint.path, evidence=evidence)


def _numbers(checkpoint: Checkpoint, key: str, tensor: Tensor, sample: int | None) -> Iterator[Finding]:
    try:
        seen = stats(tensor, sample)
    except (BadFile, MemoryError) as error:
        yield _say("broken-checkpoint", f"{key} cannot be read: {error}", Severity.ERROR, checkpoint)
        return
    of = f"of {seen.checked:,} numbers read"
    if seen.nan:
        yield _say(
            "nan-in-checkpoint",
            f"{key} holds NaN: training broke before this file was saved; take an older one.",
            Severity.ERROR,
            checkpoint,
            f"{seen.nan:,} {of}",
        )
    if seen.inf and not _may_be_infinite(key):
        yield _say("nan-in-checkpoint", f"{key} holds infinities.", Severity.ERROR, checkpoint, f"{seen.inf:,} {of}")
    if key.endswith("running_var") and seen.low < 0:
        yield _say(
            "negative-variance",
            f"{key} is negative, so its BatchNorm gives NaN in eval(); recompute the statistics.",
            Severity.ERROR,
            checkpoint,
            f"lowest {seen.low:g}",
        )
    if seen.zero and len(tensor.shape) >= 2 and seen.complete and is_float(tensor.dtype) and not _optimizer(key):
        yield _say(
            "all-zero-tensor",
            f"{key} is all zeros: it was never trained or never loaded.",
            Severity.WARNING,
            checkpoint,
        )
    if seen.denormal > 0.01 * min(seen.checked, 65536) and seen.denormal > 16 and not _optimizer(key):
        yield _say(
            "denormal-tensor",
            f"{key} holds denormal numbers, which are slow on a CPU and zero on many GPUs.",
            Severity.HINT,
            checkpoint,
            f"{seen.denormal:,} {of}",
        )


def _may_be_infinite(key: str) -> bool:
    return any(word in key.lower() for word in ("mask", "bias_table", "-inf", "best", "min_val", "max_val"))


def _optimizer(key: str) -> bool:
    return "optim" in key.lower() or "/exp_avg" in key or "momentum_buffer" in key


def _places(checkpoint: Checkpoint, every: dict[str, Tensor]) -> Iterator[Finding]:
    used: dict[tuple[str, int, str], list[tuple[str, Tensor]]] = {}
    for key, tensor in every.items():
        if not tensor.fits and tensor.kind not in ("meta", "chunked"):
            yield _say(
                "broken-checkpoint",
                f"{key} is not whole: the file ends before its last number; try `lore ckpt repair`.",
                Severity.ERROR,
                checkpoint,
            )
        storage = tensor.storage
        if storage is not None and storage.extent is not None and storage.nbytes:
            used.setdefault((storage.extent.path, storage.extent.offset, storage.key), []).append((key, tensor))
    for owners in used.values():
        yield from _storage(checkpoint, owners)
    devices = sorted({tensor.device for tensor in every.values()} - {"cpu", "meta"})
    if devices:
        yield _say(
            "load-without-map-location",
            f'tensors were saved on {", ".join(devices)}; load with map_location="cpu".',
            Severity.HINT,
            checkpoint,
        )


def _storage(checkpoint: Checkpoint, owners: list[tuple[str, Tensor]]) -> Iterator[Finding]:
    storage = owners[0][1].storage
    if storage is None:
        return
    names = [key for key, _ in owners]
    waste = storage.nbytes - _covered(owners, storage)
    if waste > max(storage.nbytes // 3, 4096):
        more = f" and {len(names) - 1} others" if len(names) > 1 else ""
        yield _say(
            "oversized-storage",
            f"{names[0]}{more} is a view that dragged its base along: {storage.nbytes:,} bytes are stored and "
            f"{storage.nbytes - waste:,} used; save a clone, or run `lore ckpt convert`.",
            Severity.WARNING, checkpoint, f"{waste:,} bytes wasted",
        )  # fmt: skip
    shared = [key for key, tensor in owners if tensor.offset == owners[0][1].offset and tensor.numel]
    if len(shared) > 1:
        yield _say(
            "shared-storage",
            f"{', '.join(shared[:4])}{'…' if len(shared) > 4 else ''} are one storage (tied weights).",
            Severity.HINT,
            checkpoint,
        )


def _covered(owners: list[tuple[str, Tensor]], storage: Storage) -> int:
    spans = sorted((t.offset * t.itemsize, (t.offset + t.span) * t.itemsize) for _, t in owners)
    total = end = 0
    for start, stop in spans:
        total += max(stop - max(start, end), 0)
        end = max(end, stop)
    return min(total, storage.nbytes)


def _prefix(checkpoint: Checkpoint) -> Iterator[Finding]:
    found = groups(checkpoint.root)
    name = main_group(found)
    prefix = wrapper_prefix(found[name]) if name is not None else ""
    if prefix:
        yield _say(
            "data-parallel-prefix",
            f"every key begins with {prefix!r}; `lore ckpt convert --strip-prefix` takes it off.",
            Severity.HINT,
            checkpoint,
        )


def _resume(checkpoint: Checkpoint) -> Iterator[Finding]:
    parts = resume_parts(checkpoint.root)
    missing = [need for need, key in parts.items() if not key]
    if parts["optimizer"] and missing:
        yield _say(
            "cannot-resume",
            f"it holds no {', no '.join(missing)}: an exact resume needs the state of each of them that the run uses.",
            Severity.WARNING,
            checkpoint,
        )
