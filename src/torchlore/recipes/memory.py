"""Where memory goes: what torch's counters mean, which tensors are alive, and how much a block of code takes."""

from __future__ import annotations

import gc
import sys
import threading
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import nn

from torchlore.recipes import _wants

if TYPE_CHECKING:
    from collections.abc import Iterator

MIB = 1 << 20


@dataclass(frozen=True)
class DeviceMemory:
    """What the caching allocator of one CUDA device holds, in bytes; `str()` of it explains the figures."""

    allocated: int
    reserved: int
    peak_allocated: int
    peak_reserved: int
    free: int
    total: int

    @property
    def outside(self) -> int:
        """Bytes that neither this process's tensors nor its cache explain: CUDA itself and other processes."""
        return self.total - self.free - self.reserved

    def __str__(self) -> str:
        rows = [
            (self.allocated, "allocated: live tensors (memory_allocated)"),
            (self.reserved, "reserved: live tensors and blocks kept for the next ones (memory_reserved)"),
            (
                self.reserved - self.allocated,
                "kept: reserved, not allocated; empty_cache() gives whole free blocks back",
            ),
            (self.peak_allocated, "peak allocated: what the code itself needed"),
            (self.peak_reserved, "peak reserved: what the device had to have"),
            (self.outside, "outside: CUDA context, libraries and other processes; not in any counter of torch"),
            (self.free, f"free of {self.total // MIB} MiB"),
        ]
        return "\n".join(f"{size / MIB:10.1f} MiB  {text}" for size, text in rows)


def device_memory(device: int | str | torch.device = "cuda") -> DeviceMemory:
    """Read the counters of a CUDA device.

    Args:
        device: Which one.

    Returns:
        The figures in bytes; the old name `memory_cached` is `reserved`.

    >>> print(DeviceMemory(3 * MIB, 22 * MIB, 5 * MIB, 22 * MIB, 900 * MIB, 1000 * MIB)) # doctest: +ELLIPSIS
           3.0 MiB  allocated: live tensors (memory_allocated)
    ...
    """
    if torch.device(device).type != "cuda" or not torch.cuda.is_available():
        raise RuntimeError(
            f"device_memory: device is {device!r}; it must be a CUDA device that is there. rss() reads the CPU's memory."
        )
    free, total = torch.cuda.mem_get_info(device)
    return DeviceMemory(
        allocated=torch.cuda.memory_allocated(device),
        reserved=torch.cuda.memory_reserved(device),
        peak_allocated=torch.cuda.max_memory_allocated(device),
        peak_reserved=torch.cuda.max_memory_reserved(device),
        free=free,
        total=total,
    )


@dataclass(frozen=True)
class Live:
    """One storage that is alive, with the tensors that look at it."""

    bytes: int
    shape: tuple[int, ...]
    dtype: torch.dtype
    device: torch.device
    kind: str  # parameter, gradient, buffer, optimizer state, activation, tensor
    tensors: int  # how many Python tensors share the storage
    name: str = ""  # of a module's parameter or buffer

    def __str__(self) -> str:
        what = f"{self.kind} {self.name}".strip()
        return f"{self.bytes / MIB:10.2f} MiB  {what}  {tuple(self.shape)} {self.dtype} {self.device} x{self.tensors}"


def largest_tensors(most: int = 20, device: str | None = None, *models: nn.Module) -> list[Live]:
    """List the largest storages that Python still holds, each once, with what they are.

    What is held by C++ alone, such as activations that autograd saved, is not seen; `device_memory().allocated` minus
    the sum of this list is that part.

    Args:
        most: How many.
        device: Only of this type, such as `"cuda"`.
        models: Whose parameters, buffers and gradients to call by name.

    Returns:
        The storages, largest first.

    >>> big = torch.zeros(1 << 20)
    >>> [one.bytes for one in largest_tensors(1, "cpu")][0] >= 4 << 20
    True
    """
    _wants.whole("largest_tensors", 1, most=most)
    if device is not None:
        device = torch.device(device).type
    for number, model in enumerate(models):
        _wants.kind("largest_tensors", nn.Module, "an nn.Module", **{f"models[{number}]": model})
    named = _names(models)
    found: dict[int, list[torch.Tensor]] = {}
    for one in gc.get_objects():
        if not issubclass(type(one), torch.Tensor) or one.layout is not torch.strided or one.device.type == "meta":
            continue
        if device is None or one.device.type == device:
            found.setdefault(_address(one), []).append(one)
    found.pop(0, None)  # empty storages, and none at all
    rows = [_describe(tensors, named) for tensors in found.values()]
    return sorted(rows, key=lambda row: -row.bytes)[:most]


def _address(one: torch.Tensor) -> int:
    """Where the tensor's memory is; 0 for the stand-ins that torch.compile and vmap leave behind, which have none."""
    try:
        return one.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):  # torch has no other way to ask
        return 0


def _names(models: tuple[nn.Module, ...]) -> dict[int, tuple[str, str]]:
    named: dict[int, tuple[str, str]] = {}
    for model in models:
        for name, value in model.named_buffers():
            named[value.untyped_storage().data_ptr()] = ("buffer", name)
        for name, parameter in model.named_parameters():
            named[parameter.untyped_storage().data_ptr()] = ("parameter", name)
            if parameter.grad is not None:
                named[parameter.grad.untyped_storage().data_ptr()] = ("gradient of", name)
    return named


def _describe(tensors: list[torch.Tensor], named: dict[int, tuple[str, str]]) -> Live:
    largest = max(tensors, key=lambda one: one.numel())
    storage = largest.untyped_storage()
    kind, name = named.get(storage.data_ptr(), (_kind(tensors), ""))
    return Live(storage.nbytes(), tuple(largest.shape), largest.dtype, largest.device, kind, len(tensors), name)


def _kind(tensors: list[torch.Tensor]) -> str:
    if any(isinstance(one, nn.Parameter) for one in tensors):
        return "parameter"
    return "activation" if any(one.grad_fn is not None for one in tensors) else "tensor"


def rss() -> int:
    """Give the bytes of main memory that this process holds at the moment.

    >>> rss() > 1 << 20
    True
    """
    return _status("VmRSS")


def _status(key: str) -> int:
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith(key + ":"):
                return int(line.split()[1]) << 10
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << (0 if sys.platform == "darwin" else 10)


@dataclass
class Usage:
    """What a block of code took, in bytes; filled when the block ends."""

    start: int = 0
    end: int = 0
    peak: int = 0
    device_start: int = 0
    device_end: int = 0
    device_peak: int = 0
    device: str = ""

    @property
    def growth(self) -> int:
        """Main memory that was not given back."""
        return self.end - self.start

    @property
    def device_growth(self) -> int:
        """Device memory of tensors that are still alive."""
        return self.device_end - self.device_start

    def __str__(self) -> str:
        text = f"CPU peak {(self.peak - self.start) / MIB:+.1f} MiB, growth {self.growth / MIB:+.1f} MiB"
        if not self.device:
            return text
        peak = (self.device_peak - self.device_start) / MIB
        return f"{text}; {self.device} peak {peak:+.1f} MiB, growth {self.device_growth / MIB:+.1f} MiB"


@contextmanager
def measure_memory(title: str = "", *, show: bool = True) -> Iterator[Usage]:
    """Print the peak and the growth of a block, on the CPU and, where it is in use, on the CUDA device.

    Args:
        title: Printed in front.
        show: Print at the end; the yielded object holds the figures either way.

    Yields:
        The figures, complete after the block.

    >>> with measure_memory(show=False) as usage: _ = torch.ones(1 << 22).sum()
    >>> usage.peak >= usage.start
    True
    """
    gc.collect()
    cuda = torch.cuda.is_available() and torch.cuda.is_initialized()
    usage = Usage(start=rss(), device=f"cuda:{torch.cuda.current_device()}" if cuda else "")
    if cuda:
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        usage.device_start = torch.cuda.memory_allocated()
    with _peak() as highest:
        yield usage
    gc.collect()
    usage.end = rss()
    usage.peak = max(highest[0], usage.end)
    if cuda:
        torch.cuda.synchronize()
        usage.device_end, usage.device_peak = torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated()
    if show:
        print(f"{title}: {usage}" if title else usage)


@contextmanager
def _peak(interval: float = 0.002) -> Iterator[list[int]]:
    """The highest resident size in a block, by the kernel's own mark where it may be reset, else by looking often."""
    highest = [rss()]
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        done = threading.Event()

        def look() -> None:
            while not done.wait(interval):
                highest[0] = max(highest[0], rss())

        thread = threading.Thread(target=look, daemon=True)
        thread.start()
        try:
            yield highest
        finally:
            done.set()
            thread.join()
        return
    yield highest
    highest[0] = max(highest[0], _status("VmHWM"))


def tensor_census() -> dict[str, int]:
    """Count live tensors by type, shape and device, to compare before and after a step.

    >>> keep = torch.zeros(3, 77)
    >>> tensor_census()["Tensor (3, 77) cpu"]
    1
    """
    counts: Counter[str] = Counter()
    for one in gc.get_objects():
        if issubclass(type(one), torch.Tensor):
            counts[f"{type(one).__name__} {tuple(one.shape)} {one.device}"] += 1
    return dict(counts)
