"""Layers: bilinear and compact bilinear pooling, global pooling, frozen and synchronised batch norm, running mean."""

from __future__ import annotations

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from torchlore.recipes import _args, _ops, _wants

__all__ = [
    "CompactBilinear",
    "FrozenBatchNorm",
    "RunningMean",
    "bilinear_pool",
    "compact_bilinear_pool",
    "freeze_batch_norm",
    "global_pool",
    "signed_sqrt",
    "to_sync_batch_norm",
]


def signed_sqrt(x: Tensor, eps: float = 1e-5) -> Tensor:
    """sign(x) * sqrt(|x|), written x / sqrt(|x| + eps): no jump and a finite slope at 0.

    >>> [round(v, 3) for v in signed_sqrt(torch.tensor([-4.0, 0.0, 9.0])).tolist()]
    [-2.0, 0.0, 3.0]
    """
    _args.floating("signed_sqrt", "x", x)
    return x / x.abs().add_(eps).sqrt_()  # in the memory that abs() made


def _positions(function: str, features: Tensor) -> Tensor:
    _args.floating(function, "features", features)
    if features.ndim < 3:
        raise ValueError(
            f"{function}: features have shape {tuple(features.shape)}; they must be (N, D, H, W) or (N, D, P)."
        )
    return features.flatten(2)


Precision = Literal["ieee", "tf32x3", "tf32"]


def bilinear_pool(
    features: Tensor, *, normalize: bool = True, eps: float = 1e-5, precision: Precision | None = None
) -> Tensor:
    """Outer product of each position's features with themselves, averaged: (N, D, H, W) to (N, D * D).

    With `normalize` the signed square root and then the L2 norm are taken. Sums are float32 whatever autocast says.
    `precision` is how a GPU may multiply float32: "ieee" in full, "tf32x3" nearly so, "tf32" with 10 bits. By default
    it is torch's own setting: "ieee", or "tf32" after `torch.set_float32_matmul_precision("high")`. Half-precision
    features are multiplied as they are, which loses nothing. The gradient follows torch's setting.

    >>> bilinear_pool(torch.ones(1, 2, 3, 3)).tolist()
    [[0.5, 0.5, 0.5, 0.5]]
    """
    flat = _positions("bilinear_pool", features)
    if precision is not None:
        _args.one_of("bilinear_pool", "precision", precision, ("ieee", "tf32x3", "tf32"))
    if normalize and _ops.fits(flat) and flat.dtype in _ops.FLOATS and 0 < flat.shape[0] < 2**16 and flat.numel():
        fused: Tensor = _Bilinear.apply(flat.contiguous(), eps, precision)
        return fused
    return _pooled(flat, eps, normalize=normalize)


def _pooled(flat: Tensor, eps: float, *, normalize: bool) -> Tensor:
    flat = _args.wide(flat)
    with torch.autocast(flat.device.type, enabled=False):
        pooled = torch.bmm(flat, flat.transpose(1, 2)).div_(max(flat.shape[2], 1)).flatten(1)
        return F.normalize(signed_sqrt(pooled, eps)) if normalize else pooled


class _Bilinear(torch.autograd.Function):
    """The kernels forward; backward in plain torch from the output alone, which the square root can be undone from."""

    @staticmethod
    def forward(ctx: torch.autograd.function.FunctionCtx, x: Tensor, eps: float, precision: str | None) -> Tensor:
        pooled, norms = _ops.two("bilinear", x, eps, precision)
        ctx.save_for_backward(x, pooled, norms)
        ctx.eps = eps  # type: ignore[attr-defined]  # a ctx takes any attribute
        return pooled

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, *grads: Tensor) -> tuple[Tensor, None, None]:
        x, pooled, norms = ctx.saved_tensors  # type: ignore[attr-defined]  # ctx has it at run time
        eps: float = ctx.eps  # type: ignore[attr-defined]  # set above
        if _args.twice():
            return _args.again(lambda value: _pooled(value, eps, normalize=True), x, grads[0]), None, None
        grad = grads[0].to(pooled.dtype)
        inner = (grad * pooled).sum(1, keepdim=True)
        by_root = (grad - pooled * inner) / norms[:, None]
        root = pooled * norms[:, None]
        square = root * root
        size = (square + root.abs() * (square + 4.0 * eps).sqrt()) / 2  # |v| of root = v / sqrt(|v| + eps)
        by_product = by_root * (size / 2 + eps) / (size + eps) ** 1.5
        by_product = by_product.view(x.shape[0], x.shape[1], x.shape[1])
        with torch.autocast(x.device.type, enabled=False):
            both = by_product + by_product.transpose(1, 2)
            return torch.bmm(both, _args.wide(x)).div(x.shape[2]).to(x.dtype), None, None


def compact_bilinear_pool(features: Tensor, rows: Tensor, signs: Tensor, size: int) -> Tensor:
    """Tensor sketch of bilinear pooling, (N, D, H, W) to (N, size): about its inner products at a fraction of its size.

    `rows` and `signs` (2, D) are the two hash functions; `CompactBilinear` draws and keeps them.

    >>> rows, signs = torch.tensor([[0, 1], [0, 1]]), torch.ones(2, 2)
    >>> compact_bilinear_pool(torch.ones(1, 2, 1, 1), rows, signs, 4).round(decimals=4).tolist()
    [[1.0, 2.0, 1.0, 0.0]]
    """
    flat = _args.wide(_positions("compact_bilinear_pool", features))
    if rows.shape != (2, flat.shape[1]) or signs.shape != rows.shape:
        raise ValueError(
            f"compact_bilinear_pool: rows have shape {tuple(rows.shape)} and signs {tuple(signs.shape)} for "
            f"{flat.shape[1]} channels; both must be (2, {flat.shape[1]})."
        )
    with torch.autocast(flat.device.type, enabled=False):
        spectrum = None
        for row, sign in zip(rows, signs, strict=True):
            shape = (flat.shape[0], size, flat.shape[2])
            sketch = flat.new_zeros(shape).index_add(1, row, flat * sign.to(flat.dtype)[:, None])
            wave = torch.fft.rfft(sketch, dim=1)
            spectrum = wave if spectrum is None else spectrum * wave
        assert spectrum is not None  # there are two rows
        pooled: Tensor = torch.fft.irfft(spectrum.mean(2), n=size, dim=1)
        return pooled


class CompactBilinear(nn.Module):
    """Compact bilinear pooling with its two random hash functions in buffers, so that a checkpoint keeps them.

    >>> CompactBilinear(16, 64)(torch.rand(2, 16, 4, 4)).shape
    torch.Size([2, 64])
    """

    rows: Tensor
    signs: Tensor

    def __init__(
        self, channels: int, size: int = 8192, *, normalize: bool = True, generator: torch.Generator | None = None
    ) -> None:
        super().__init__()
        _wants.whole("CompactBilinear", 1, channels=channels, size=size)
        self.size, self.normalize = size, normalize
        self.register_buffer("rows", torch.randint(0, size, (2, channels), generator=generator))
        self.register_buffer("signs", torch.randint(0, 2, (2, channels), generator=generator) * 2.0 - 1.0)

    def forward(self, features: Tensor) -> Tensor:
        """Pool (N, D, H, W) to (N, size)."""
        pooled = compact_bilinear_pool(features, self.rows, self.signs, self.size)
        return F.normalize(signed_sqrt(pooled)) if self.normalize else pooled


def global_pool(
    features: Tensor, kind: Literal["mean", "max", "gem"] = "mean", *, power: float | Tensor = 3.0, eps: float = 1e-6
) -> Tensor:
    """Pool (N, C, ...) over all positions to (N, C): mean, max, or the generalised mean of the given power.

    >>> global_pool(torch.tensor([[[[1.0, 3.0]]]])).tolist(), global_pool(torch.tensor([[[1.0, 3.0]]]), "max").tolist()
    ([[2.0]], [[3.0]])
    """
    _args.one_of("global_pool", "kind", kind, ("mean", "max", "gem"))
    flat = _positions("global_pool", features)
    if kind == "max":
        return flat.amax(2)
    if kind == "mean":
        return flat.mean(2)
    return _args.wide(flat).clamp_min(eps).pow(power).mean(2).pow(1.0 / power)


def _check_channels(function: str, x: Tensor, each: Tensor) -> None:
    if x.ndim < 2 or x.shape[1] != each.shape[0]:
        raise ValueError(f"{function}: x has shape {tuple(x.shape)}; it must be (N, {each.shape[0]}, ...).")


class FrozenBatchNorm(nn.Module):
    """Batch norm with fixed statistics and weights: the same in train and eval mode, no gradient, fused into two numbers.

    Build it from a trained layer with `freeze_batch_norm`; its state dict has a batch norm's names.

    >>> FrozenBatchNorm(2)(torch.ones(1, 2, 1, 1)).flatten().round(decimals=3).tolist()
    [1.0, 1.0]
    """

    weight: Tensor
    bias: Tensor
    running_mean: Tensor
    running_var: Tensor

    def __init__(self, features: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.register_buffer("weight", torch.ones(features))
        self.register_buffer("bias", torch.zeros(features))
        self.register_buffer("running_mean", torch.zeros(features))
        self.register_buffer("running_var", torch.ones(features))

    def forward(self, x: Tensor) -> Tensor:
        """Normalise (N, C, ...) with the stored statistics."""
        _check_channels("FrozenBatchNorm", x, self.weight)
        if x.dtype == self.weight.dtype:  # one pass; torch takes no other pair of dtypes everywhere
            return F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps)
        scale = self.weight * (self.running_var + self.eps).rsqrt()
        shift = self.bias - self.running_mean * scale
        shape = (1, -1, *[1] * (x.ndim - 2))
        return x * scale.view(shape).to(x.dtype) + shift.view(shape).to(x.dtype)

    def _load_from_state_dict(self, state_dict: dict[str, Tensor], prefix: str, *args: object) -> None:
        state_dict.pop(prefix + "num_batches_tracked", None)
        super()._load_from_state_dict(state_dict, prefix, *args)  # type: ignore[arg-type]  # handed through as it came


def _replace(model: nn.Module, new: dict[int, nn.Module]) -> nn.Module:
    """Put the new modules in place of the old at every name, also where one module has several names."""
    if id(model) in new:
        return new[id(model)]
    for parent in list(model.modules()):
        for name, child in list(parent._modules.items()):  # noqa: SLF001  # named_children() skips the second name of a shared module
            if child is not None and id(child) in new:
                setattr(parent, name, new[id(child)])
    return model


def _freeze_one(norm: _BatchNorm) -> FrozenBatchNorm:
    frozen = FrozenBatchNorm(norm.num_features, norm.eps)
    if norm.running_mean is None or norm.running_var is None:
        raise ValueError(
            f"freeze_batch_norm: model holds a {norm} with track_running_stats=False; there are no statistics to freeze."
        )
    frozen.to(device=norm.running_mean.device, dtype=norm.running_mean.dtype)
    frozen.running_mean.copy_(norm.running_mean)
    frozen.running_var.copy_(norm.running_var)
    if norm.affine:
        frozen.weight.copy_(norm.weight)
        frozen.bias.copy_(norm.bias)
    return frozen.train(norm.training)


@torch.no_grad()
def freeze_batch_norm(model: nn.Module) -> nn.Module:
    """Replace every batch norm of the model by a `FrozenBatchNorm`; returns the model (or the new layer).

    Setting `requires_grad=False` alone lets the running statistics move on in train mode.

    >>> model = freeze_batch_norm(nn.Sequential(nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4)))
    >>> type(model[1]).__name__, len(list(model[1].parameters()))
    ('FrozenBatchNorm', 0)
    """
    _wants.kind("freeze_batch_norm", nn.Module, "an nn.Module", model=model)
    norms = {id(module): module for module in model.modules() if isinstance(module, _BatchNorm)}
    return _replace(model, {key: _freeze_one(norm) for key, norm in norms.items()})


def _sync_one(norm: _BatchNorm, process_group: torch.distributed.ProcessGroup | None) -> nn.SyncBatchNorm:
    sync = nn.SyncBatchNorm(
        norm.num_features, norm.eps, norm.momentum, affine=False, track_running_stats=False, process_group=process_group
    )
    sync.affine, sync.track_running_stats = norm.affine, norm.track_running_stats
    # The same Parameter and buffer objects: an optimizer made before stays valid, dtype and device are kept.
    for name, parameter in norm._parameters.items():  # noqa: SLF001  # None entries (affine=False) must move too
        sync.register_parameter(name, parameter)
    for name, buffer in norm._buffers.items():  # noqa: SLF001  # as above (track_running_stats=False)
        sync.register_buffer(name, buffer)
    return sync.train(norm.training)


def to_sync_batch_norm(model: nn.Module, process_group: torch.distributed.ProcessGroup | None = None) -> nn.Module:
    """Replace every batch norm of the model by `nn.SyncBatchNorm`, before it is wrapped in DDP; returns the model.

    Keeps the Parameter objects (so the optimizer), statistics, counters, dtype, device, `requires_grad`, the training
    flag, `affine=False`, `track_running_stats=False` and modules used under two names. Leaves alone what is frozen:
    `FrozenBatchNorm`, and a batch norm in eval mode inside a model in train mode. Without a process group (plain
    DataParallel) a SyncBatchNorm is an ordinary batch norm.

    >>> model = to_sync_batch_norm(nn.Sequential(nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4)))
    >>> type(model[1]).__name__
    'SyncBatchNorm'
    """
    _wants.kind("to_sync_batch_norm", nn.Module, "an nn.Module", model=model)
    if isinstance(process_group, (str, int)):  # the class is not there in a torch built without distributed
        raise TypeError(_wants.message("to_sync_batch_norm", "process_group", process_group, "a process group or None"))
    norms = {
        id(module): module
        for module in model.modules()
        if isinstance(module, _BatchNorm)
        and not isinstance(module, nn.SyncBatchNorm)
        and (module.training or not model.training)
    }
    return _replace(model, {key: _sync_one(norm, process_group) for key, norm in norms.items()})


class RunningMean(nn.Module):
    """An exponential mean of what it is shown, in a buffer: it moves in train mode only, and never holds a graph.

    `momentum=None` keeps the plain mean of all batches.

    >>> mean = RunningMean(1, momentum=0.5)
    >>> mean(torch.tensor([[4.0]])).tolist(), mean.eval()(torch.tensor([[100.0]])).tolist()
    ([2.0], [2.0])
    """

    mean: Tensor
    batches: Tensor

    def __init__(self, features: int, momentum: float | None = 0.1) -> None:
        super().__init__()
        if momentum is not None and not 0.0 < momentum <= 1.0:
            raise ValueError(f"RunningMean: momentum is {momentum}; it must be above 0 and at most 1, or None.")
        self.momentum = momentum
        self.register_buffer("mean", torch.zeros(features))
        self.register_buffer("batches", torch.zeros((), dtype=torch.int64))

    @torch.no_grad()
    def forward(self, x: Tensor) -> Tensor:
        """Take in a batch (N, C, ...) and return the mean (C,) as it then is, a copy without a graph."""
        _check_channels("RunningMean", x, self.mean)
        if self.training:
            current = x.detach().to(self.mean.dtype).transpose(0, 1).flatten(1).mean(1)
            self.batches += 1
            step = 1.0 / self.batches.to(self.mean.dtype) if self.momentum is None else self.momentum
            self.mean.lerp_(current, step)
        return self.mean.clone()
