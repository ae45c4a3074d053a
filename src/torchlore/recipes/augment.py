"""Augmentation of whole batches on their device: region confusion, mixup, CutMix; reproducible from a generator."""

from __future__ import annotations

import math
import sys
from typing import NamedTuple

import torch
from torch import Tensor

from torchlore.recipes import _ops, _wants

__all__ = ["Mixed", "apply_region_plan", "cutmix", "mixup", "region_confusion", "region_plan"]


_KERNEL_BLOCKS = 16  # the kernel compares all blocks of a line with each other


def region_plan(
    batch: int,
    blocks: int = 7,
    neighbour: float = 2,
    *,
    generator: torch.Generator | None = None,
    device: torch.device | str | None = None,
) -> Tensor:
    """For each sample which source block each place of the grid gets: int64 (batch, blocks, blocks), a permutation.

    Each row and then each column is sorted by its index plus noise from U(-neighbour, neighbour), so a block moves by
    less than 2 * neighbour places along each side; 0 moves nothing. A CPU generator gives the same plan everywhere.

    >>> region_plan(1, blocks=2, neighbour=0).tolist()
    [[[0, 1], [2, 3]]]
    """
    _wants.whole("region_plan", 0, batch=batch)
    _check_grid("region_plan", blocks, neighbour, generator)
    where = torch.device("cpu" if device is None else device)
    noise = torch.rand(
        2, batch, blocks, blocks, generator=generator, device=where if generator is None else generator.device
    ).to(where)
    if _ops.fits(noise) and blocks <= _KERNEL_BLOCKS and noise.dtype == torch.float32:
        return _ops.one("order_blocks", noise, 2.0 * neighbour)
    place = torch.arange(blocks, device=where, dtype=noise.dtype)
    # U(0, 2k) sorts as U(-k, k) does.
    order = torch.add(place, noise, alpha=2.0 * neighbour).argsort(dim=-1, stable=True)
    column = order[1]
    row = order[0].transpose(1, 2).gather(2, column)
    return row * blocks + column


def _check_grid(function: str, blocks: int, neighbour: float, generator: torch.Generator | None) -> None:
    _wants.whole(function, 1, blocks=blocks)
    _wants.from_0(function, neighbour=neighbour)
    _wants.kind(function, (torch.Generator, type(None)), "a torch.Generator or None", generator=generator)


def region_confusion(
    pictures: Tensor, blocks: int = 7, neighbour: float = 2, *, generator: torch.Generator | None = None
) -> Tensor:
    """Cut each picture into a grid of blocks and shuffle them within a neighbourhood (the RCM of destruction learning).

    `pictures` is (..., H, W) of any dtype; with four dimensions or more each sample of the first one gets its own
    shuffle. Rows and columns that do not fill a block (H % blocks at the bottom, W % blocks at the right) stay. To
    shuffle masks alike, draw a `region_plan` and apply it to both. Keeps memory format and torchvision's TVTensors.

    >>> picture = torch.arange(4.0).view(1, 1, 2, 2)
    >>> region_confusion(picture, blocks=2).flatten().sort().values.tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    _check_grid("region_confusion", blocks, neighbour, generator)
    batch = pictures.shape[0] if pictures.ndim >= 4 else 1
    return apply_region_plan(
        pictures, region_plan(batch, blocks, neighbour, generator=generator, device=pictures.device)
    )


def apply_region_plan(pictures: Tensor, plan: Tensor) -> Tensor:
    """Move the blocks of (..., H, W) as a `region_plan` says; the gradient moves back.

    >>> apply_region_plan(torch.tensor([[1, 2], [3, 4]]), torch.tensor([[[3, 1], [2, 0]]])).tolist()
    [[4, 2], [3, 1]]
    """
    _check_plan(pictures, plan)
    plain = _plain(pictures)
    return _rewrap(_move(plain, plan), pictures)


def _check_plan(pictures: Tensor, plan: Tensor) -> None:
    if pictures.ndim < 2:
        raise ValueError(f"apply_region_plan: pictures have shape {tuple(pictures.shape)}; they must be (..., H, W).")
    batch = pictures.shape[0] if pictures.ndim >= 4 else 1
    if plan.ndim != 3 or plan.shape[0] != batch or plan.shape[1] != plan.shape[2]:
        raise ValueError(
            f"apply_region_plan: plan has shape {tuple(plan.shape)} for pictures of shape {tuple(pictures.shape)}; it "
            f"must be ({batch}, blocks, blocks)."
        )
    blocks = plan.shape[1]
    if min(pictures.shape[-2:]) < blocks:
        raise ValueError(
            f"apply_region_plan: pictures of {pictures.shape[-2]} x {pictures.shape[-1]} have no {blocks} x {blocks} "
            "blocks; use fewer."
        )


def _move(plain: Tensor, plan: Tensor) -> Tensor:
    last = plain.ndim == 4 and not plain.is_contiguous() and plain.is_contiguous(memory_format=torch.channels_last)
    if last:
        return _gather(plain.permute(0, 2, 3, 1).unsqueeze(1), plan).squeeze(1).permute(0, 3, 1, 2)
    batch = plain.shape[0] if plain.ndim >= 4 else 1
    height, width = plain.shape[-2:]
    lead = math.prod(plain.shape[1:-2] if plain.ndim >= 4 else plain.shape[:-2])
    return _gather(plain.reshape(batch, lead, height, width, 1), plan).reshape(plain.shape)


def _gather(planes: Tensor, plan: Tensor) -> Tensor:
    """Move blocks of planes (N, L, H, W, K), K values a pixel; what fills no block stays."""
    batch, lead, height, width, _inner = planes.shape
    if _ops.fits(planes) and planes.element_size() <= 8 and max(batch, lead) < 2**16:
        planes, plan = planes.contiguous(), plan.contiguous()
        if not planes.requires_grad:
            return _ops.one("move_blocks", planes, plan)
        moved: Tensor = _Move.apply(planes, plan)
        return moved
    high, wide = (side // plan.shape[1] * plan.shape[1] for side in (height, width))
    if (high, wide) == (height, width):
        return _gather_runs(planes, plan)
    inside = _gather_runs(planes[:, :, :high, :wide], plan)
    moved = planes.clone()
    moved[:, :, :high, :wide] = inside
    return moved


class _Move(torch.autograd.Function):
    """The kernel, whose gradient is the kernel with the inverse plan."""

    @staticmethod
    def forward(ctx: torch.autograd.function.FunctionCtx, planes: Tensor, plan: Tensor) -> Tensor:
        ctx.save_for_backward(plan)
        return _ops.one("move_blocks", planes, plan)

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, *grads: Tensor) -> tuple[Tensor, None]:
        (plan,) = ctx.saved_tensors  # type: ignore[attr-defined]  # ctx has it at run time
        back: Tensor = _Move.apply(grads[0].contiguous(), plan.flatten(1).argsort(1).view_as(plan))
        return back, None


def _gather_runs(planes: Tensor, plan: Tensor) -> Tensor:
    """Gather runs of one block's width: in memory they are whole rows, so each is copied in one go."""
    batch, lead, height, width, inner = planes.shape
    blocks, high = plan.shape[1], height // plan.shape[1]
    run = width // blocks * inner
    source_row, source_column = plan // blocks, plan % blocks
    line = torch.arange(high, device=plan.device)
    line = source_row[:, :, None, :] * high + line[None, None, :, None]  # (N, blocks, high, blocks)
    start = line * blocks + source_column[:, :, None, :]
    first = torch.arange(batch * lead, device=plan.device).view(batch, lead, 1, 1, 1) * (height * blocks)
    runs = (first + start.unsqueeze(1)).reshape(-1)
    return planes.reshape(-1, run).index_select(0, runs).view(planes.shape)


def _plain(value: Tensor) -> Tensor:
    return value if type(value) is Tensor else value.as_subclass(Tensor)


def _rewrap(result: Tensor, like: Tensor) -> Tensor:
    """Give a torchvision TVTensor its type back; torchvision is asked only if the caller brought it."""
    module = sys.modules.get("torchvision.tv_tensors")
    if module is None or not isinstance(like, module.TVTensor):
        return result
    if isinstance(like, module.BoundingBoxes):
        raise TypeError("augment: bounding boxes cannot be cut into blocks or mixed; pass the images and masks.")
    wrapped: Tensor = module.wrap(result, like=like)
    return wrapped


class Mixed(NamedTuple):
    """A mixed batch: `share` of each sample belongs to `first`, the rest to `second`; see `losses.mixed_loss`."""

    images: Tensor
    first: Tensor
    second: Tensor
    share: Tensor


def _shares(count: int, alpha: float, generator: torch.Generator | None, device: torch.device) -> Tensor:
    """Draws of Beta(alpha, alpha), as X / (X + Y) of two gammas: `torch.distributions` takes no generator."""
    place = device if generator is None else generator.device
    shape = torch.full((2, count), alpha, device=place, dtype=torch.float32)
    # For small alpha both gammas underflow to 0; log space with Gamma(a) = Gamma(a + 1) * U^(1/a) stays exact.
    boosted = torch._standard_gamma(shape + 1.0, generator=generator).log()  # noqa: SLF001  # torch's Gamma calls it; it alone takes a generator
    uniform = torch.rand(2, count, generator=generator, device=place).clamp_min(torch.finfo(torch.float32).tiny)
    log_gamma = boosted + uniform.log() / alpha
    return torch.sigmoid(log_gamma[0] - log_gamma[1]).to(device)


def _pairing(
    function: str,
    images: Tensor,
    labels: Tensor,
    *,
    alpha: float,
    each: bool,
    generator: torch.Generator | None,
    shares_on: torch.device | None = None,
) -> tuple[Tensor, Tensor]:
    if images.ndim < 2 or labels.shape[:1] != images.shape[:1]:
        raise ValueError(
            f"{function}: images have shape {tuple(images.shape)} and labels {tuple(labels.shape)}; their first "
            "dimensions must be equal."
        )
    if not 0 < alpha < float("inf"):
        raise ValueError(f"{function}: alpha is {alpha}; it must be above 0. To switch mixing off, do not call it.")
    batch = images.shape[0]
    place = images.device if generator is None else generator.device
    order = torch.randperm(batch, generator=generator, device=place).to(images.device)
    shares = _shares(batch if each else 1, alpha, generator, shares_on or images.device)
    return order, shares if each else shares.expand(batch)


def mixup(
    images: Tensor,
    labels: Tensor,
    alpha: float = 0.2,
    *,
    each: bool = False,
    generator: torch.Generator | None = None,
) -> Mixed:
    """Blend each image with another of the batch: share * image + (1 - share) * other, share from Beta(alpha, alpha).

    One share for the batch, or with `each` one per sample. Integer images are refused: scale them to float first.

    >>> mixed = mixup(torch.ones(4, 3, 2, 2), torch.arange(4))
    >>> mixed.images.unique().tolist(), mixed.share.shape
    ([1.0], torch.Size([4]))
    """
    if not images.is_floating_point():
        raise TypeError(f"mixup: images have dtype {images.dtype}; they must be floating: scale them to [0, 1] first.")
    order, share = _pairing("mixup", images, labels, alpha=alpha, each=each, generator=generator)
    plain = _plain(images)
    part = share.to(plain.dtype).view(-1, *[1] * (plain.ndim - 1))
    return Mixed(_rewrap(torch.lerp(plain[order], plain, part), images), labels, labels[order], share)


def cutmix(
    images: Tensor,
    labels: Tensor,
    alpha: float = 1.0,
    *,
    each: bool = False,
    generator: torch.Generator | None = None,
) -> Mixed:
    """Paste a rectangle of another image of the batch into each; `share` is the area that was really kept.

    The rectangle has 1 - Beta(alpha, alpha) of the area before it is cut at the border. Any dtype, (N, ..., H, W).

    >>> mixed = cutmix(torch.arange(2.0).view(2, 1, 1, 1).expand(2, 1, 8, 8), torch.tensor([0, 1]))
    >>> bool(((mixed.images == mixed.first.view(2, 1, 1, 1)).float().mean((1, 2, 3)) >= mixed.share - 1e-6).all())
    True
    """
    if images.ndim < 3:
        raise ValueError(f"cutmix: images have shape {tuple(images.shape)}; they must be (N, ..., H, W).")
    by_host = not each and not torch.compiler.is_compiling() and (generator is None or generator.device.type == "cpu")
    on = torch.device("cpu") if by_host else images.device  # one rectangle, drawn where it can be read without waiting
    order, share = _pairing("cutmix", images, labels, alpha=alpha, each=each, generator=generator, shares_on=on)
    plain = _plain(images)
    spans = _spans(share, plain.shape[-2], plain.shape[-1], each, generator)
    (top, bottom), (left, right) = spans
    kept = 1.0 - (bottom - top) * (right - left) / (plain.shape[-2] * plain.shape[-1])
    if by_host and len(share):  # one rectangle for all: only that is moved
        rows, columns = (slice(*(int(end[0]) for end in span)) for span in spans)
        mixed = plain.clone()
        mixed[..., rows, columns] = plain[..., rows, columns][order]
        kept = torch.full(share.shape, kept[0].item(), device=images.device)
    else:
        mixed = torch.where(_inside(spans, plain), plain[order], plain)
    return Mixed(_rewrap(mixed, images), labels, labels[order], kept)


def _inside(spans: list[tuple[Tensor, Tensor]], pictures: Tensor) -> Tensor:
    """Masks (N, ..., H, W) of the rectangles."""
    masks = []
    for size, (low, high) in zip(pictures.shape[-2:], spans, strict=True):
        grid = torch.arange(size, device=low.device)
        masks.append((grid >= low.unsqueeze(1)) & (grid < high.unsqueeze(1)))
    both = masks[0].unsqueeze(2) & masks[1].unsqueeze(1)
    return both.view(len(both), *[1] * (pictures.ndim - 3), *both.shape[1:])


def _spans(
    share: Tensor, height: int, width: int, each: bool, generator: torch.Generator | None
) -> list[tuple[Tensor, Tensor]]:
    """First and one past the last row and column (N,) of rectangles around a random centre, inside the picture.

    Their sides are sqrt(1 - share) of the picture's before they are cut at its border.
    """
    place = share.device if generator is None else generator.device
    centre = torch.rand(2, len(share) if each else 1, generator=generator, device=place).to(share.device)
    centre = centre.expand(2, len(share))
    half = (1.0 - share).clamp_min(0.0).sqrt() / 2
    return [
        (((middle - half) * size).round().clamp(0, size), ((middle + half) * size).round().clamp(0, size))
        for size, middle in ((height, centre[0]), (width, centre[1]))
    ]
