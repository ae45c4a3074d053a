"""Cross-entropy against smoothed labels, the heart of several functions in `losses`: three paths, one result."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from torchlore.recipes import _args, _ops

_MODES = {"none": 0, "sum": 1, "mean": 2}


def cross_entropy(
    logits: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, *, share: float, reduction: str
) -> Tensor:
    """`F.cross_entropy` with `label_smoothing=share` in float32 or wider; unweighted rows take a faster way.

    The mean of labels that are all ignored is 0, where torch gives NaN.
    """
    if weight is None and logits.shape[1] <= 2**15:
        last = logits if logits.ndim == 2 else logits.movedim(1, -1)
        if last.is_contiguous() and _ops.fits(logits) and logits.dtype in _ops.FLOATS:
            return _by_kernel(last, target, ignore_index, share / logits.shape[1], reduction)
        if last.is_contiguous() and _args.may_read(logits):
            flat = _args.wide(last.reshape(-1, last.shape[-1]))
            rows: Tensor = _Rows.apply(flat, target.reshape(-1), share / logits.shape[1], ignore_index)
            mass = _mass(target, None, ignore_index, rows.dtype) if reduction == "mean" else None
            return _args.reduced(rows.view(target.shape), reduction, mass)
    logits = _args.wide(logits)
    weight = None if weight is None else weight.to(logits.dtype)
    plain = "sum" if reduction == "mean" else reduction
    loss = F.cross_entropy(logits, target, weight, ignore_index=ignore_index, reduction=plain, label_smoothing=share)
    if reduction != "mean":
        return loss
    return loss / _mass(target, weight, ignore_index, loss.dtype).clamp_min(torch.finfo(loss.dtype).tiny)


def _mass(target: Tensor, weight: Tensor | None, ignore_index: int, dtype: torch.dtype) -> Tensor:
    """What the mean divides by: the number of labels that count (at least 1), or the sum of their weights."""
    keep = target != ignore_index
    if weight is None:
        return keep.sum().to(dtype).clamp_min(1.0)
    return (weight[torch.where(keep, target, 0)] * keep).sum()


def _by_kernel(last: Tensor, target: Tensor, ignore_index: int, off: float, reduction: str) -> Tensor:
    if last.ndim > 2:
        last = last.reshape(-1, last.shape[-1])
    loss: Tensor = _Kernel.apply(last, target.reshape(-1).contiguous(), off, ignore_index, _MODES[reduction])
    return loss.view(target.shape) if reduction == "none" else loss


def _slowly(logits: Tensor, target: Tensor, off: float, ignore_index: int, mode: int = 0) -> Tensor:
    """The loss by torch's own operators, for a gradient of the gradient."""
    share = off * logits.shape[1]
    plain = "sum" if mode else "none"
    loss = F.cross_entropy(
        _args.wide(logits), target, ignore_index=ignore_index, reduction=plain, label_smoothing=share
    )
    return loss / _mass(target, None, ignore_index, loss.dtype) if mode == _MODES["mean"] else loss


class _Rows(torch.autograd.Function):
    """Rows (N, C) on the CPU with the gradient written out: half the passes of log_softmax, nll and sum."""

    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx, logits: Tensor, target: Tensor, off: float, ignore_index: int
    ) -> Tensor:
        log_p = F.log_softmax(logits, dim=1)
        keep = target != ignore_index
        label = torch.where(keep, target, 0).unsqueeze(1)
        rows = log_p.gather(1, label).squeeze(1) * (off * logits.shape[1] - 1.0)
        if off:
            rows.sub_(log_p.sum(1), alpha=off)
        ctx.save_for_backward(logits, target, log_p, label)
        ctx.how = (off, ignore_index)  # type: ignore[attr-defined]  # a ctx takes any attribute
        return torch.where(keep, rows, 0.0)

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, *grads: Tensor) -> tuple[Tensor, None, None, None]:
        logits, target, log_p, label = ctx.saved_tensors  # type: ignore[attr-defined]  # ctx has it at run time
        off, ignore_index = ctx.how  # type: ignore[attr-defined]  # set above
        if _args.twice():
            return _args.again(lambda x: _slowly(x, target, off, ignore_index), logits, grads[0]), None, None, None
        above = torch.where(target == ignore_index, 0.0, grads[0]).unsqueeze(1)
        by_log_p = torch.mul(above, -off).expand_as(log_p).contiguous()
        by_log_p.scatter_add_(1, label, above * (off * log_p.shape[1] - 1.0))
        grad = torch._log_softmax_backward_data(by_log_p, log_p, 1, log_p.dtype)  # noqa: SLF001  # what autograd itself calls
        return grad, None, None, None


class _Kernel(torch.autograd.Function):
    """Rows (N, C) on a GPU: one pass over the logits forward, one backward, nothing kept but a number a row."""

    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx,
        logits: Tensor,
        target: Tensor,
        off: float,
        ignore_index: int,
        mode: int,
    ) -> Tensor:
        loss, kept = _ops.two("smooth_loss", logits, target, off, ignore_index, mode)
        ctx.save_for_backward(logits, target, kept)
        ctx.how = (off, ignore_index, mode)  # type: ignore[attr-defined]  # a ctx takes any attribute
        return loss

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, *grads: Tensor) -> tuple[Tensor, None, None, None, None]:
        logits, target, kept = ctx.saved_tensors  # type: ignore[attr-defined]  # ctx has it at run time
        off, ignore_index, mode = ctx.how  # type: ignore[attr-defined]  # set above
        if _args.twice():
            plain = _args.again(lambda x: _slowly(x, target, off, ignore_index, mode), logits, grads[0])
            return plain, None, None, None, None
        grad = _ops.one("smooth_back", logits, target, kept, grads[0].contiguous(), off)
        return grad, None, None, None, None
