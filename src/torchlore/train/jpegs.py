"""Plain JPEG files travel undecoded and are decoded, cut and resized by the device, a whole batch at once.

Workers only read the files and their headers. Whatever is not a plain JPEG is decoded by the worker as ever and travels
beside the others. K pictures of a batch of B are plain; S is the side they are resized to.
"""

from __future__ import annotations

import io
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import torch
from torch import Tensor

from torchlore.recipes._decode import MOST_PIXELS, jpeg_size
from torchlore.train.augment import crop_box

AHEAD = 3  # batches decoded before they are asked for
CHUNK = 1 << 30  # bytes of pictures that are resized at once
T = TypeVar("T")


@dataclass(frozen=True)
class Packed:
    """The pictures of a batch on their way to a device."""

    data: Tensor  # uint8, the plain JPEG files end to end
    lengths: Tensor  # (K,) bytes of each
    regions: Tensor  # (K, 2, 4) down and right: where the first pixel starts, the step between two, and the borders
    flips: Tensor  # (K,) which are mirrored
    places: Tensor  # (K,) of the plain ones in the batch
    others: Tensor  # (B - K, 3, S, S) uint8
    size: int
    device: str

    def pin_memory(self) -> Packed:
        """Itself: the decoder reads the files from any memory."""
        return self


def pack(
    read: Callable[[int, Tensor | None], Tensor],
    files: Sequence[bytes],
    draws: Tensor | None,
    cut: Callable[[int, int, Tensor | None], Tensor],
    size: int,
    device: str,
    here: int = 0,
) -> Packed:
    """Sort a batch: what the device decodes travels as bytes with the part to `cut`; the rest is `read` here.

    `here` of every eight are read in any case, where the processors would idle beside a busy device.
    """
    rows = [None] * len(files) if draws is None else list(draws)
    sizes = [_plain(data) if at % 8 >= here else None for at, data in enumerate(files)]
    regions = [cut(*found, row) for found, row in zip(sizes, rows, strict=True) if found is not None]
    plain = [at for at, found in enumerate(sizes) if found is not None]
    others = [read(at, rows[at]) for at, found in enumerate(sizes) if found is None]
    return Packed(
        torch.frombuffer(bytearray(b"".join(files[at] for at in plain) or b"\0"), dtype=torch.uint8),
        torch.tensor([len(files[at]) for at in plain], dtype=torch.long),
        torch.stack(regions) if regions else torch.empty(0, 2, 4),
        torch.tensor([_mirrored(rows[at]) for at in plain], dtype=torch.bool),
        torch.tensor(plain, dtype=torch.long),
        torch.stack(others) if others else torch.empty(0, 3, size, size, dtype=torch.uint8),
        size,
        device,
    )


def _plain(data: bytes) -> tuple[int, int] | None:
    size = jpeg_size(data)
    return size if size is not None and size[0] * size[1] <= MOST_PIXELS else None


def _mirrored(row: Tensor | None) -> bool:
    return row is not None and bool(row[0] < 0.5)


def crop_region(height: int, width: int, row: Tensor, size: int) -> Tensor:
    """The part of a picture that `files.crop` takes: (2, 4)."""
    top, left, tall, wide = crop_box(row, height, width)
    return torch.tensor(
        ((top, tall / size, top, top + tall), (left, wide / size, left, left + wide)), dtype=torch.float32
    )


def middle_region(height: int, width: int, size: int) -> Tensor:
    """The part of a picture that `files.middle` takes: (2, 4)."""
    short = min(height, width)
    side = size + size // 8 if short > size else size
    found = []
    for extent in (height, width):
        larger = max(side, round(extent * side / short))
        step = extent / larger
        found.append(((larger - size) // 2 * step, step, 0, extent))
    return torch.tensor(found, dtype=torch.float32)


def resample(pictures: Sequence[Tensor], regions: Tensor, flips: Tensor, size: int) -> Tensor:
    """Parts of pictures (3, H, W) uint8 of any sizes as (K, 3, S, S): bilinear with antialiasing, as two products."""
    device = pictures[0].device
    kind = torch.float16 if device.type == "cuda" else torch.float32  # a pixel fits into 11 bits
    padded = _padded(pictures, kind)  # (K, H, 3, W)
    tall, wide = padded.shape[1], padded.shape[3]
    there, mirrored = regions.to(device), flips.to(device)
    rows = _weights(there[:, 0], tall, size)  # (K, S, H)
    columns = _weights(there[:, 1], wide, size)
    columns = torch.where(mirrored[:, None, None], columns.flip(1), columns)
    across = torch.bmm(padded.flatten(1, 2), columns.to(kind).transpose(1, 2))  # (K, H * 3, S)
    found = torch.bmm(rows.to(kind), across.view(len(pictures), tall, 3 * size))  # (K, S, 3 * S)
    return found.view(-1, size, 3, size).add_(0.5).clamp_(0, 255).to(torch.uint8).permute(0, 2, 1, 3)


def _padded(pictures: Sequence[Tensor], kind: torch.dtype) -> Tensor:
    """All pictures in one tensor; those of one size in one go, as the host's time is the step's."""
    sizes: dict[tuple[int, int], list[int]] = {}
    for at, picture in enumerate(pictures):
        sizes.setdefault((picture.shape[1], picture.shape[2]), []).append(at)
    tall, wide = (-(-max(extents) // 8) * 8 for extents in zip(*sizes, strict=True))  # matrix units want multiples of 8
    padded = torch.zeros(len(pictures), tall, 3, wide, dtype=kind, device=pictures[0].device)
    for (height, width), places in sizes.items():
        same = torch.stack([pictures[at] for at in places]).transpose(1, 2)  # (N, H, 3, W)
        where = slice(None) if len(places) == len(pictures) else torch.tensor(places, device=padded.device)
        padded[where, :height, :, :width] = same.to(kind)
    return padded


def _weights(axis: Tensor, extent: int, size: int) -> Tensor:
    """How much of each pixel of a picture (K, S, extent) goes into each pixel of the result: a triangle over it."""
    start, step, low, high = (one.view(-1, 1, 1) for one in axis.unbind(1))
    centres = start + (torch.arange(size, device=axis.device).view(1, -1, 1) + 0.5) * step
    pixels = torch.arange(extent, device=axis.device).view(1, 1, -1) + 0.5
    found = (1 - (pixels - centres).abs() / step.clamp(min=1)).clamp(min=0) * ((pixels > low) & (pixels < high))
    return found / found.sum(2, keepdim=True)


def decode(packed: Packed) -> list[Tensor]:
    """The plain JPEG files as (3, H, W) uint8 on the device."""
    from torchvision.io import ImageReadMode, decode_jpeg

    if not len(packed.lengths):
        return []
    parts = list(packed.data.split(packed.lengths.tolist()))
    found: list[Tensor] = decode_jpeg(parts, mode=ImageReadMode.RGB, device=packed.device)
    return found


def finished(packed: Packed, decoded: list[Tensor]) -> Tensor:
    """The whole batch (B, 3, S, S) uint8 on the device."""
    total = len(decoded) + len(packed.others)
    out = torch.empty(total, 3, packed.size, packed.size, dtype=torch.uint8, device=packed.device)
    if len(packed.others):
        left = torch.ones(total, dtype=torch.bool)
        left[packed.places] = False
        out[left.nonzero().flatten().to(out.device)] = packed.others.to(out.device, non_blocking=True)
    if not decoded:
        return out
    tall, wide = (max(one.shape[axis] for one in decoded) for axis in (1, 2))
    at_once = max(1, CHUNK // (tall * wide * 6))
    for first in range(0, len(decoded), at_once):
        part = slice(first, first + at_once)
        pictures = resample(decoded[part], packed.regions[part], packed.flips[part], packed.size)
        out[packed.places[part].to(out.device)] = pictures
    return out


def works(device: torch.device) -> bool:
    """Whether this machine's torchvision decodes JPEG files on the device."""
    if device.type != "cuda":
        return False
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGB", (16, 16), (200, 100, 50)).save(buffer, "JPEG")
    one = torch.frombuffer(bytearray(buffer.getvalue()), dtype=torch.uint8)
    nothing = torch.empty(0, 2, 4)
    packed = Packed(one, torch.tensor([len(one)]), nothing, nothing, nothing, nothing, 16, str(device))
    _be_quiet()
    try:
        found = decode(packed)[0].float().mean((1, 2)).cpu()
    except (ImportError, RuntimeError):  # torchvision without its decoders, or built without nvJPEG
        return False
    return bool((found - torch.tensor([200.0, 100.0, 50.0])).abs().max() < 4)


def _be_quiet() -> None:
    """Torchvision 0.29 says at each call that its decoders will move to torchcodec, which cannot do batches yet."""
    warnings.filterwarnings("ignore", message="The image decoding and encoding capab", category=DeprecationWarning)


def unpacked(stream: Iterator[Any], device: torch.device) -> Iterator[Any]:
    """Batches with their pictures decoded on the device, a few ahead: one thread decodes, another one cuts.

    Each thread waits for the device before it lets go of what it used: the decoder writes on a stream of its own, which
    the allocator does not know.
    """
    _be_quiet()
    lanes = [torch.cuda.Stream(device, priority=-1) if device.type == "cuda" else None for _ in range(2)]

    def first() -> tuple[Any, list[Tensor]] | None:
        batch = next(stream, None)
        return None if batch is None else (batch, _on(lanes[0], lambda: decode(batch.pictures)))

    def second(before: Future[tuple[Any, list[Tensor]] | None]) -> Any:
        found = before.result()
        if found is None:
            return None
        batch, decoded = found
        return replace(batch, pictures=_on(lanes[1], lambda: finished(batch.pictures, decoded)))

    with ThreadPoolExecutor(1, "decode") as decoders, ThreadPoolExecutor(1, "cut") as cutters:
        waiting = deque(cutters.submit(second, decoders.submit(first)) for _ in range(AHEAD))
        try:
            while (batch := waiting.popleft().result()) is not None:
                waiting.append(cutters.submit(second, decoders.submit(first)))
                if device.type == "cuda":
                    batch.pictures.record_stream(torch.cuda.current_stream(device))
                yield batch
        finally:
            for pool in (decoders, cutters):
                pool.shutdown(wait=True, cancel_futures=True)


def _on(lane: torch.cuda.Stream | None, work: Callable[[], T]) -> T:
    with torch.no_grad(), torch.cuda.stream(lane) if lane is not None else nullcontext():
        found = work()
    if lane is not None:
        lane.synchronize()
    return found
