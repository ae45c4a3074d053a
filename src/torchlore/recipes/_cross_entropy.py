"""Cross-entropy against smoothed labels, the heart of several functions in `losses`: three paths, one result."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from torchlore.recipes import _args, _ops


def cross_entropy(
    logits: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, *, share: float, reduction: str
) -> Tensor:
    """`F.cross_entropy` with `label_smoothing=share` in float32 or wider; unweighted rows take a faster way."""
    last = logits.movedim(1, -1)
    if weight is None and last.is_contiguous() and last.shape[-1] <= 2**15:
        flat, labels = last.reshape(-1, last.shape[-1]), target.reshape(-1)
        off = share / flat.shape[1]
        rows: Tensor | None = None
        if _ops.fits(logits) and logits.dtype in _ops.FLOATS:
            rows = Kernel.apply(flat, labels, off, ignore_index)
        elif _args.may_read(logits):
            rows = Rows.apply(_args.wide(flat), labels, off, ignore_index)
        if rows is not None:
            return _args.reduced(rows.view(target.shape), reduction)
    logits = _args.wide(logits)
    weight = None if weight is None else weight.to(logits.dtype)
    return F.cross_entropy(
        logits, target, weight, ignore_index=ignore_index, reduction=reduction, label_smoothing=share
    )


def _slowly(logits: Tensor, target: Tensor, off: float, ignore_index: int) -> Tensor:
    """The rows by torch's own operators, for a gradient of the gradient."""
    share = off * logits.shape[1]
    return F.cross_entropy(
        _args.wide(logits), target, ignore_index=ignore_index, reduction="none", label_smoothing=share
    )


class Rows(torch.autograd.Function):
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


class Kernel(torch.autograd.Function):
    """Rows (N, C) on a GPU: one pass over the logits forward, one backward, nothing kept but a number a row."""

    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx, logits: Tensor, target: Tensor, off: float, ignore_index: int
    ) -> Tensor:
        rows: Tensor = torch.ops.torchlore.smooth_rows(logits, target.contiguous(), off, ignore_index)
        ctx.save_for_backward(logits, target, rows)
        ctx.how = (off, ignore_index)  # type: ignore[attr-defined]  # a ctx takes any attribute
        return rows[0]

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, *grads: Tensor) -> tuple[Tensor, None, None, None]:
        logits, target, rows = ctx.saved_tensors  # type: ignore[attr-defined]  # ctx has it at run time
        off, ignore_index = ctx.how  # type: ignore[attr-defined]  # set above
        if _args.twice():
            return _args.again(lambda x: _slowly(x, target, off, ignore_index), logits, grads[0]), None, None, None
        scale = torch.stack([grads[0], rows[1]])
        return torch.ops.torchlore.smooth_back(logits, target.contiguous(), scale, off), None, None, None
