"""Losses: each checks its shapes, knows `ignore_index` and `reduction`, and computes in float32 under autocast.

An ignored place adds nothing to the loss, to its gradient or to the mean's denominator, and a batch in which all is
ignored gives 0 (torch gives NaN).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from torchlore.recipes import _args, _ops, _wants
from torchlore.recipes._cross_entropy import cross_entropy
from torchlore.recipes._embedding import (
    angular_margin_logits,
    batch_all_triplet_loss,
    batch_hard_triplet_loss,
    center_loss,
    contrastive_loss,
    info_nce_loss,
    supervised_contrastive_loss,
)
from torchlore.recipes._overlap import (
    dice_loss,
    iou_loss,
    multiclass_dice_loss,
    multiclass_iou_loss,
    tversky_loss,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "add_l1_gradient_",
    "angular_margin_logits",
    "batch_all_triplet_loss",
    "batch_hard_triplet_loss",
    "binary_focal_loss",
    "center_loss",
    "class_weights",
    "contrastive_loss",
    "convert_epsilon",
    "dice_loss",
    "focal_loss",
    "info_nce_loss",
    "iou_loss",
    "l1_penalty",
    "label_smoothing_loss",
    "mixed_loss",
    "multiclass_dice_loss",
    "multiclass_iou_loss",
    "shrink_",
    "smooth_labels",
    "soft_cross_entropy",
    "supervised_contrastive_loss",
    "tversky_loss",
]

Reduction = Literal["mean", "sum", "none"]
Spread = Literal["all", "others"]


def convert_epsilon(epsilon: float, num_classes: int, *, to: Spread) -> float:
    """The epsilon that gives the same smoothed labels under the other definition.

    "all" is torch's definition: epsilon / C on every class. "others" is the one of many blog posts and of the notes:
    1 - epsilon on the true class, epsilon / (C - 1) on each other class.

    >>> round(convert_epsilon(0.1, 5, to="all"), 4)  # what torch must be given to do what the notes do
    0.125
    """
    _args.one_of("convert_epsilon", "to", to, ("all", "others"))
    _wants.whole("convert_epsilon", 2, num_classes=num_classes)
    _wants.share("convert_epsilon", epsilon=epsilon)
    ratio = num_classes / (num_classes - 1)
    found = epsilon * ratio if to == "all" else epsilon / ratio
    return 1.0 if math.isclose(found, 1.0, rel_tol=1e-12) else found  # which rounding may miss, and 1 is the most


def _torch_epsilon(function: str, epsilon: float, classes: int, spread: Spread) -> float:
    _args.one_of(function, "spread", spread, ("all", "others"))
    highest = 1.0 if spread == "all" else (classes - 1) / classes
    if not 0.0 <= epsilon <= highest:
        raise ValueError(
            f"{function}: epsilon is {epsilon}; with {classes} classes and spread={spread!r} it must be between 0 and "
            f"{highest:.4g}, above which the true class would get less than the others."
        )
    return epsilon if spread == "all" or epsilon == 0.0 else min(convert_epsilon(epsilon, classes, to="all"), 1.0)


def smooth_labels(
    target: Tensor,
    num_classes: int,
    epsilon: float = 0.1,
    *,
    spread: Spread = "all",
    ignore_index: int | None = None,
) -> Tensor:
    """Smoothed one-hot labels (N, C, ...) of class labels (N, ...); an ignored label gets a row of zeros.

    >>> smooth_labels(torch.tensor([1, 0]), 5, 0.1, spread="others")[0].tolist()[:2]
    [0.02500000037252903, 0.8999999761581421]
    """
    from torchlore.recipes.tensors import one_hot

    if target.is_floating_point() or target.dtype == torch.bool:
        raise TypeError(f"smooth_labels: target has dtype {target.dtype}; it must hold integer class labels.")
    share = _torch_epsilon("smooth_labels", epsilon, num_classes, spread)
    hot = one_hot(target, num_classes, ignore_index=ignore_index, dtype=torch.float32)
    smooth = hot * (1.0 - share) + share / num_classes
    return smooth if ignore_index is None else smooth * (target != ignore_index).unsqueeze(1)


def label_smoothing_loss(
    logits: Tensor,
    target: Tensor,
    epsilon: float = 0.1,
    *,
    spread: Spread = "all",
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: Reduction = "mean",
) -> Tensor:
    """Cross-entropy against smoothed labels, in the definition that `spread` names.

    `spread="all"` is torch's `label_smoothing` (epsilon / C on every class); `spread="others"` is the notes' (1 -
    epsilon on the true class, epsilon / (C - 1) on the rest). With `weight` the mean divides by the sum of the weights
    of the labels, as torch does. On a GPU a label out of range makes the loss NaN: reading it would stop the device.

    >>> logits, target = torch.tensor([[2.0, 0.5, -1.0]]), torch.tensor([0])
    >>> round(label_smoothing_loss(logits, target, 0.1, spread="others").item(), 4)
    0.4663
    >>> round(label_smoothing_loss(logits, target, 0.1).item(), 4)
    0.3913
    """
    _args.one_of("label_smoothing_loss", "reduction", reduction, _args.REDUCTIONS)
    target = _args.labels_of_classes("label_smoothing_loss", logits, target, ignore_index)
    share = _torch_epsilon("label_smoothing_loss", epsilon, logits.shape[1], spread)
    return cross_entropy(logits, target, weight, ignore_index, share=share, reduction=reduction)


def soft_cross_entropy(
    logits: Tensor, target: Tensor, *, weight: Tensor | None = None, reduction: Reduction = "mean"
) -> Tensor:
    """Cross-entropy of logits (N, C, ...) against class probabilities of the same shape.

    A place whose probabilities are all 0 is ignored. The mean divides by the mass of the target (weighted by class),
    so that hard labels give `F.cross_entropy`'s mean; torch divides by the number of rows instead.

    >>> soft_cross_entropy(torch.zeros(1, 4), torch.tensor([[0.5, 0.5, 0.0, 0.0]])).item() == torch.tensor(4.0).log()
    tensor(True)
    """
    _args.one_of("soft_cross_entropy", "reduction", reduction, _args.REDUCTIONS)
    _args.floating("soft_cross_entropy", "logits", logits)
    if target.shape != logits.shape:
        raise ValueError(
            f"soft_cross_entropy: target has shape {tuple(target.shape)}, logits {tuple(logits.shape)}; they must be "
            "equal. For class labels write label_smoothing_loss(logits, labels, 0.0)."
        )
    log_p = F.log_softmax(_args.wide(logits), dim=1)
    mass = target.to(log_p.dtype)
    if weight is not None:
        mass = mass * weight.to(log_p.dtype).view(-1, *[1] * (logits.ndim - 2))
    rows = -(log_p * mass).sum(1)
    return _args.reduced(rows, reduction, mass.sum() if reduction == "mean" else None)


def mixed_loss(
    logits: Tensor,
    first: Tensor,
    second: Tensor,
    share: float | Tensor,
    *,
    epsilon: float = 0.0,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: Reduction = "mean",
) -> Tensor:
    """The loss of mixup and CutMix: `share` of the cross-entropy to `first` and the rest of that to `second`.

    `share` is one number or one per sample, as `augment.mixup` and `augment.cutmix` return it. It is the same number
    as cross-entropy against the mixed soft labels, also with class weights: the mean divides by the mixed weights of
    the two labels.

    >>> logits = torch.tensor([[2.0, 0.0]])
    >>> round(mixed_loss(logits, torch.tensor([0]), torch.tensor([1]), 0.75).item(), 4)
    0.6269
    """
    _args.one_of("mixed_loss", "reduction", reduction, _args.REDUCTIONS)
    first = _args.labels_of_classes("mixed_loss", logits, first, ignore_index)
    second = _args.labels_of_classes("mixed_loss", logits, second, ignore_index)
    part = _share("mixed_loss", share, logits)
    eps = _torch_epsilon("mixed_loss", epsilon, logits.shape[1], "all")
    loss_1 = cross_entropy(logits, first, weight, ignore_index, share=eps, reduction="none")
    loss_2 = cross_entropy(logits, second, weight, ignore_index, share=eps, reduction="none")
    rows = part * loss_1 + (1.0 - part) * loss_2
    if reduction != "mean":
        return _args.reduced(rows, reduction)
    mass = part * _row_mass(first, weight, ignore_index, rows) + (1.0 - part) * _row_mass(
        second, weight, ignore_index, rows
    )
    return _args.reduced(rows, "mean", mass.sum())


def _share(function: str, share: float | Tensor, logits: Tensor) -> Tensor:
    part = torch.as_tensor(share, dtype=_args.wide(logits).dtype, device=logits.device)
    if part.ndim == 0:
        part = part.expand(logits.shape[0])
    if part.shape != logits.shape[:1]:
        raise ValueError(
            f"{function}: share has shape {tuple(part.shape)}; it must be one number, or one for each of the "
            f"{logits.shape[0]} samples."
        )
    if _args.may_read(part) and not bool(((part >= 0) & (part <= 1)).all()):
        raise ValueError(f"{function}: share is {share}; it must lie between 0 and 1.")
    return part.view(-1, *[1] * (logits.ndim - 2))


def _row_mass(target: Tensor, weight: Tensor | None, ignore_index: int, like: Tensor) -> Tensor:
    keep = target != ignore_index
    if weight is None:
        return keep.to(like.dtype)
    return weight.to(like.dtype)[torch.where(keep, target, 0)] * keep


def focal_loss(
    logits: Tensor,
    target: Tensor,
    gamma: float = 2.0,
    *,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: Reduction = "mean",
) -> Tensor:
    """Focal loss over classes: cross-entropy times (1 - p of the true class) to the power `gamma`.

    `weight` is the alpha of the paper, one per class. The mean divides by the number of labels that count.

    >>> round(focal_loss(torch.tensor([[2.0, 0.0]]), torch.tensor([0])).item(), 6)
    0.001804
    """
    _args.one_of("focal_loss", "reduction", reduction, _args.REDUCTIONS)
    target = _args.labels_of_classes("focal_loss", logits, target, ignore_index)
    _check_gamma("focal_loss", gamma)
    keep = target != ignore_index
    entropy = F.cross_entropy(_args.wide(logits), target, ignore_index=ignore_index, reduction="none")
    rows = _miss(-entropy, gamma) * entropy
    if weight is not None:
        rows = rows * weight.to(rows.dtype)[torch.where(keep, target, 0)]
    return _args.reduced(rows, reduction, keep.sum())


def binary_focal_loss(
    logits: Tensor,
    target: Tensor,
    gamma: float = 2.0,
    *,
    alpha: float | None = 0.25,
    ignore_index: int | None = None,
    reduction: Reduction = "mean",
) -> Tensor:
    """Focal loss of independent yes/no outputs; `alpha` weighs the positives, 1 - alpha the negatives.

    >>> round(binary_focal_loss(torch.tensor([[2.0]]), torch.tensor([[1]])).item(), 6)
    0.000451
    """
    _args.one_of("binary_focal_loss", "reduction", reduction, _args.REDUCTIONS)
    _args.floating("binary_focal_loss", "logits", logits)
    _check_gamma("binary_focal_loss", gamma)
    if target.shape != logits.shape:
        raise ValueError(
            f"binary_focal_loss: target has shape {tuple(target.shape)}, logits {tuple(logits.shape)}; they must be equal."
        )
    score = _args.wide(logits)
    keep = None if ignore_index is None else target != ignore_index
    truth = (target if keep is None else torch.where(keep, target, 0)).to(score.dtype)
    entropy = F.binary_cross_entropy_with_logits(score, truth, reduction="none")
    rows = _miss(-entropy, gamma) * entropy
    if alpha is not None:
        rows = rows * torch.add(1.0 - alpha, truth, alpha=2.0 * alpha - 1.0)  # alpha, or 1 - alpha
    if keep is None:
        return _args.reduced(rows, reduction)
    return _args.reduced(rows * keep, reduction, keep.sum())


def _check_gamma(function: str, gamma: float) -> None:
    _wants.from_0(function, gamma=gamma)  # 0 is plain cross-entropy


def _miss(log_p: Tensor, gamma: float) -> Tensor:
    """(1 - p) ** gamma, exact near p = 1 and with a finite gradient there for gamma below 1."""
    miss = -torch.expm1(log_p)
    return miss**gamma if gamma >= 1 else miss.clamp_min(torch.finfo(log_p.dtype).eps) ** gamma


def class_weights(
    counts: Tensor | Iterable[int],
    *,
    scheme: Literal["inverse", "sqrt", "effective"] = "inverse",
    beta: float = 0.999,
) -> Tensor:
    """Weights for rare classes from how often each class occurs; they average 1 over the samples.

    "inverse" is N / (C * count) as in scikit-learn's "balanced"; "sqrt" its square root; "effective" the number of
    effective samples of Cui et al. with `beta`. A class that never occurs gets weight 0 and is left out of C.

    >>> class_weights([90, 10]).tolist()
    [0.5555555820465088, 5.0]
    """
    _args.one_of("class_weights", "scheme", scheme, ("inverse", "sqrt", "effective"))
    try:
        number = torch.as_tensor(counts if isinstance(counts, Tensor) else [*counts]).double()
    except (TypeError, ValueError, RuntimeError):  # whatever torch makes of texts and of nothing
        raise TypeError(_wants.message("class_weights", "counts", counts, "one count per class")) from None
    if number.ndim != 1 or number.numel() == 0 or bool((number < 0).any()) or not bool((number > 0).any()):
        raise ValueError(
            f"class_weights: counts are {number.tolist()}; they must be one count per class, none negative, not all 0."
        )
    seen = number > 0
    safe = torch.where(seen, number, 1.0)
    if scheme == "effective":
        _wants.number("class_weights", "of at least 0 and below 1", lambda x: 0 <= x < 1, beta=beta)
        raw = (1.0 - beta) / (1.0 - beta**safe)
    else:
        raw = 1.0 / safe if scheme == "inverse" else safe.rsqrt()
    raw = raw * seen
    return (raw * number.sum() / (raw * number).sum()).float()


class _L1(torch.autograd.Function):
    """The sum of absolute values of many tensors: one pass forward, the sign backward."""

    @staticmethod
    def forward(ctx: torch.autograd.function.FunctionCtx, *parameters: Tensor) -> Tensor:
        ctx.save_for_backward(*parameters)
        return _abs_sum(parameters)

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, *grads: Tensor) -> tuple[Tensor, ...]:
        parameters, (grad,) = ctx.saved_tensors, grads  # type: ignore[attr-defined]  # ctx has it at run time
        if not _args.twice() and (fast := _ops.signs(parameters, grad)) is not None:
            return fast
        if not parameters[0].is_cuda:  # one by one each stays in the cache between the two passes
            return tuple(p.sign().mul_(grad) for p in parameters)
        signs = torch._foreach_sign(parameters)  # noqa: SLF001  # torch's optimizers use it; no public name
        torch._foreach_mul_(signs, grad)
        return tuple(signs)


def _abs_sum(parameters: tuple[Tensor, ...] | list[Tensor]) -> Tensor:
    fast = _ops.abs_sum(parameters)
    if fast is not None:
        return fast
    if parameters[0].is_cuda:
        norms = list(torch._foreach_norm(parameters, 1, dtype=_sum_dtype(parameters)))  # noqa: SLF001  # torch's optimizers use it; no public name
    else:  # on the CPU torch's 1-norm adds up in order: slow, and off by 2e-4 on 2 M values
        norms = [p.abs().sum(dtype=_sum_dtype(parameters)) for p in parameters]
    return torch.stack(norms).sum()


def _sum_dtype(parameters: Iterable[Tensor]) -> torch.dtype:
    return torch.float64 if any(p.dtype == torch.float64 for p in parameters) else torch.float32


def _chosen(function: str, parameters: Iterable[Tensor], only_weights: bool) -> list[Tensor]:
    given = _wants.several(function, Tensor, "a tensor", parameters=parameters)
    chosen = [p for p in given if p.requires_grad and p.ndim > 1] if only_weights else given
    if not chosen:
        raise ValueError(
            f"{function}: no parameter is left; parameters is empty or used up (pass model.parameters() afresh), or all "
            f"{len(given)} are frozen or of one dimension (write only_weights=False)."
        )
    return chosen


def l1_penalty(parameters: Iterable[Tensor], *, only_weights: bool = True) -> Tensor:
    """Sum of the absolute values of the parameters, to be weighed and added to the loss (not with `+=`).

    `only_weights` leaves out frozen parameters and those of one dimension (biases, norms), which L1 should not shrink.
    The gradient at 0 is 0. A plain gradient step never reaches exact zeros; `shrink_` does. On a GPU autograd spends
    more time on a hundred parameters than the sum does: to save it, read the penalty under `torch.no_grad()` and call
    `add_l1_gradient_` after the backward pass.

    >>> linear = torch.nn.Linear(2, 1)
    >>> _ = torch.nn.init.constant_(linear.weight, -3.0)
    >>> l1_penalty(linear.parameters()).item()
    6.0
    """
    chosen = _chosen("l1_penalty", parameters, only_weights)
    if not torch.is_grad_enabled():
        return _abs_sum(chosen)
    penalty: Tensor = _L1.apply(*chosen)
    return penalty


@torch.no_grad()
def add_l1_gradient_(parameters: Iterable[Tensor], strength: float, *, only_weights: bool = True) -> None:
    """Add the gradient of `strength * l1_penalty` to the `.grad` that is there: call between backward and step.

    >>> p = torch.nn.Parameter(torch.tensor([[2.0, -1.0, 0.0]]))
    >>> p.grad = torch.zeros_like(p)
    >>> add_l1_gradient_([p], 0.5)
    >>> p.grad.tolist()
    [[0.5, -0.5, 0.0]]
    """
    _wants.from_0("add_l1_gradient_", strength=strength)
    given = _chosen("add_l1_gradient_", parameters, only_weights)
    chosen = [p for p in given if p.grad is not None]
    if not chosen:
        raise ValueError(
            f"add_l1_gradient_: none of the {len(given)} parameters has a gradient; call it after loss.backward()."
        )
    grads = [p.grad for p in chosen if p.grad is not None]
    if not chosen[0].is_cuda:  # all signs at once would be fresh memory, which costs a CPU five times the work
        for parameter, grad in zip(chosen, grads, strict=True):
            grad.add_(parameter.sign(), alpha=strength)
        return
    if _ops.add_signs(chosen, grads, strength):
        return
    signs = torch._foreach_sign(chosen)  # noqa: SLF001  # torch's optimizers use it; no public name
    torch._foreach_add_(grads, signs, alpha=strength)


@torch.no_grad()
def shrink_(parameters: Iterable[Tensor], amount: float, *, only_weights: bool = True) -> None:
    """Move each parameter towards 0 by `amount` and stop at exactly 0: the proximal step of L1, after the optimizer's.

    For the penalty `strength` and the learning rate `lr` the amount is `lr * strength`.

    >>> p = torch.nn.Parameter(torch.tensor([[0.3, -0.05]]))
    >>> shrink_([p], 0.1)
    >>> round(p[0, 0].item(), 2), p[0, 1].item() == 0
    (0.2, True)
    """
    _wants.from_0("shrink_", amount=amount)
    for parameter in _chosen("shrink_", parameters, only_weights):
        parameter.copy_(F.softshrink(parameter, amount))
