"""Checks of arguments that several recipes share; every message names the function, what it got and what it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from torchlore.recipes import _wants

if TYPE_CHECKING:
    from collections.abc import Callable

REDUCTIONS = ("mean", "sum", "none")
one_of = _wants.one_of


def floating(function: str, name: str, value: Tensor) -> None:
    """Raise unless it is a tensor of a floating dtype."""
    _wants.kind(function, Tensor, "a tensor", **{name: value})
    if not value.is_floating_point():
        raise TypeError(f"{function}: {name} has dtype {value.dtype}; it must be floating.")


def may_read(value: Tensor) -> bool:
    """Whether looking at the tensor's values is free: eager, on the CPU, so no device waits and no graph breaks."""
    return value.device.type == "cpu" and not torch.compiler.is_compiling()


def wide(value: Tensor) -> Tensor:
    """The tensor in float32 where it was narrower: a loss summed in half precision overflows at 65504."""
    return value.float() if value.dtype in (torch.float16, torch.bfloat16) else value


def labels_of_classes(function: str, logits: Tensor, target: Tensor, ignore_index: int) -> Tensor:
    """Check logits (N, C, ...) against labels (N, ...), and return the labels as int64."""
    floating(function, "logits", logits)
    if logits.ndim < 2:
        raise ValueError(f"{function}: logits have shape {tuple(logits.shape)}; they must be (N, C) or (N, C, ...).")
    wanted = (logits.shape[0], *logits.shape[2:])
    if target.shape != wanted:
        raise ValueError(
            f"{function}: target has shape {tuple(target.shape)} for logits of shape {tuple(logits.shape)}; "
            f"it must be {tuple(wanted)}, one label for each place."
        )
    if target.is_floating_point() or target.dtype == torch.bool:
        raise TypeError(f"{function}: target has dtype {target.dtype}; it must hold integer class labels.")
    target = target.long()
    if may_read(target):
        in_range(function, target, logits.shape[1], ignore_index)
    return target


def in_range(function: str, target: Tensor, classes: int, ignore_index: int | None) -> None:
    """Raise if a label that is not ignored lies outside 0..classes-1; reads the values."""
    if target.numel() == 0:
        return
    low, high = (int(bound) for bound in torch.aminmax(target))
    if (low < 0 or high >= classes) and ignore_index is not None:  # only then is a second look needed
        kept = torch.where(target == ignore_index, 0, target)
        low, high = (int(bound) for bound in torch.aminmax(kept))
    if low < 0 or high >= classes:
        wrong = low if low < 0 else high
        raise ValueError(
            f"{function}: target holds the label {wrong}, but there are {classes} classes (0 to {classes - 1}); "
            f"write ignore_index={wrong} if it means 'no label'."
        )


def reduced(values: Tensor, reduction: str, denominator: Tensor | None = None) -> Tensor:
    """Reduce a loss; the mean divides by `denominator`, and an empty mean is 0 with a gradient, not NaN."""
    if reduction == "none":
        return values
    if reduction == "sum":
        return values.sum()
    if denominator is None:
        return values.mean() if values.numel() else values.sum()
    return values.sum() / torch.where(denominator == 0, 1, denominator)


def twice() -> bool:
    """Whether a backward pass runs that must itself be differentiable (`create_graph=True`)."""
    return torch.is_grad_enabled() and not torch.compiler.is_compiling()


def again(plain: Callable[[Tensor], Tensor], value: Tensor, grad: Tensor) -> Tensor:
    """The gradient by `value` through the plain form, with a graph: what a closed form cannot give."""
    (result,) = torch.autograd.grad(plain(value), value, grad, create_graph=True)
    return result
