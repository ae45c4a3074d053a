"""Losses of overlap between soft masks: IoU, Dice, Tversky. Users import them from `losses`."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from torchlore.recipes import _args, _ops

Reduction = Literal["mean", "sum", "none"]
Form = Literal["squared", "linear"]
Empty = Literal["count", "skip"]


class Ratio(NamedTuple):
    """1 - (k * I + eps) / (a * P + b * T + c * I + eps), of the intersection I, the prediction P and the truth T."""

    k: float
    a: float
    b: float
    c: float


class Options(NamedTuple):
    """How a loss was asked for; `which` is `empty` of the yes/no losses and `classes` of the others."""

    from_logits: bool
    ignore_index: int | None
    form: str
    which: str
    eps: float
    reduction: str


IOU = Ratio(1.0, 1.0, 1.0, -1.0)
DICE = Ratio(2.0, 1.0, 1.0, 0.0)


def iou_loss(
    scores: Tensor,
    targets: Tensor,
    *,
    from_logits: bool = True,
    ignore_index: int | None = None,
    form: Form = "squared",
    empty: Empty = "count",
    eps: float = 1e-6,
    reduction: Reduction = "mean",
) -> Tensor:
    """Differentiable 1 - IoU of yes/no masks, one value per sample (and channel), then reduced.

    `scores` and `targets` have the same shape: (N, P), (N, H, W) or (N, C, ...), where each channel is its own mask.
    `from_logits=False` says that the scores are probabilities already. Integer targets are foreground wherever they
    are not 0, so masks of 255 are right; floating targets lie in [0, 1]. `form="squared"` divides by sum(p²) +
    sum(t²) - sum(pt), which is 0 at p = t also for soft targets; "linear" by sum(p) + sum(t) - sum(pt). Both are
    1 - IoU on hard masks. An empty mask predicted empty costs 0; `empty="skip"` leaves empty masks out.

    >>> mask = torch.tensor([[1, 1, 0, 0]])
    >>> round(iou_loss(torch.tensor([[1.0, 0.0, 1.0, 0.0]]), mask, from_logits=False).item(), 4)
    0.6667
    """
    options = Options(from_logits, ignore_index, form, empty, eps, reduction)
    return _binary("iou_loss", scores, targets, IOU, options)


def dice_loss(
    scores: Tensor,
    targets: Tensor,
    *,
    from_logits: bool = True,
    ignore_index: int | None = None,
    form: Form = "linear",
    empty: Empty = "count",
    eps: float = 1e-6,
    reduction: Reduction = "mean",
) -> Tensor:
    """Differentiable 1 - Dice (1 - F1) of yes/no masks; shapes and options as in `iou_loss`.

    >>> mask = torch.tensor([[1, 1, 0, 0]])
    >>> round(dice_loss(torch.tensor([[1.0, 0.0, 1.0, 0.0]]), mask, from_logits=False).item(), 4)
    0.5
    """
    options = Options(from_logits, ignore_index, form, empty, eps, reduction)
    return _binary("dice_loss", scores, targets, DICE, options)


def tversky_loss(
    scores: Tensor,
    targets: Tensor,
    alpha: float = 0.3,
    beta: float = 0.7,
    *,
    from_logits: bool = True,
    ignore_index: int | None = None,
    eps: float = 1e-6,
    reduction: Reduction = "mean",
) -> Tensor:
    """Overlap with false alarms weighed by `alpha` and misses by `beta`; (1, 1) is IoU, (0.5, 0.5) is Dice.

    >>> mask = torch.tensor([[1, 1, 0, 0]])
    >>> round(tversky_loss(torch.tensor([[1.0, 0.0, 0.0, 0.0]]), mask, from_logits=False).item(), 4)
    0.4118
    """
    if alpha < 0 or beta < 0:
        raise ValueError(f"tversky_loss: alpha is {alpha} and beta is {beta}; both must be 0 or more.")
    ratio = Ratio(1.0, alpha, beta, 1.0 - alpha - beta)
    options = Options(from_logits, ignore_index, "linear", "count", eps, reduction)
    return _binary("tversky_loss", scores, targets, ratio, options)


def multiclass_iou_loss(
    scores: Tensor,
    labels: Tensor,
    *,
    from_logits: bool = True,
    ignore_index: int = -100,
    classes: Literal["present", "all"] = "present",
    form: Form = "squared",
    eps: float = 1e-6,
    reduction: Reduction = "mean",
) -> Tensor:
    """Differentiable 1 - IoU of each class, scores (N, C, ...) against labels (N, ...), averaged.

    `classes="present"` averages over the classes that occur in the sample's labels; "all" also over absent ones,
    whose loss is near 1 wherever they get any probability. `reduction="none"` gives (N, C), 0 for what is left out.

    >>> scores = torch.tensor([[[2.0, -2.0], [-2.0, 2.0]]])
    >>> round(multiclass_iou_loss(scores, torch.tensor([[0, 1]])).item(), 6)
    0.000658
    """
    options = Options(from_logits, ignore_index, form, classes, eps, reduction)
    return _multiclass("multiclass_iou_loss", scores, labels, IOU, options)


def multiclass_dice_loss(
    scores: Tensor,
    labels: Tensor,
    *,
    from_logits: bool = True,
    ignore_index: int = -100,
    classes: Literal["present", "all"] = "present",
    form: Form = "linear",
    eps: float = 1e-6,
    reduction: Reduction = "mean",
) -> Tensor:
    """Differentiable 1 - Dice of each class; shapes and options as in `multiclass_iou_loss`.

    >>> scores = torch.tensor([[[4.0, -4.0], [-4.0, 4.0]]])
    >>> round(multiclass_dice_loss(scores, torch.tensor([[0, 1]])).item(), 6)
    0.000335
    """
    options = Options(from_logits, ignore_index, form, classes, eps, reduction)
    return _multiclass("multiclass_dice_loss", scores, labels, DICE, options)


def _spatial(scores: Tensor) -> tuple[int, ...]:
    """The dimensions of one mask: all after N for up to three dimensions, all after (N, C) for more."""
    return tuple(range(1 if scores.ndim <= 3 else 2, scores.ndim))


def _binary(function: str, scores: Tensor, targets: Tensor, ratio: Ratio, options: Options) -> Tensor:
    _check(function, options)
    _args.one_of(function, "empty", options.which, ("count", "skip"))
    _args.floating(function, "scores", scores)
    if scores.shape != targets.shape or scores.ndim < 2:
        raise ValueError(
            f"{function}: scores have shape {tuple(scores.shape)} and targets {tuple(targets.shape)}; they must be "
            "equal, (N, P), (N, H, W) or (N, C, ...)."
        )
    if _ops.fits(scores) and scores.dtype in _ops.FLOATS and not targets.requires_grad:
        return _fused(scores, targets, ratio, options)
    rows, true = _plain(function, scores, targets, ratio, options)
    return _kept(rows, true, options)


def _kept(rows: Tensor, true: Tensor, options: Options) -> Tensor:
    """Reduce the losses of the masks that count."""
    if options.which == "count":
        return _args.reduced(rows, options.reduction)
    full = true > 0
    return _args.reduced(rows * full, options.reduction, full.sum())


def _plain(function: str, scores: Tensor, targets: Tensor, ratio: Ratio, options: Options) -> tuple[Tensor, Tensor]:
    """The loss of each mask and the size of its truth."""
    truth = targets if targets.is_floating_point() else targets != 0
    prob = torch.sigmoid(_args.wide(scores)) if options.from_logits else _args.wide(scores)
    truth = truth.to(prob.dtype)
    if options.ignore_index is not None:
        keep = targets != options.ignore_index
        truth, prob = torch.where(keep, truth, 0.0), torch.where(keep, prob, 0.0)
    _check_range(function, prob, truth, options.from_logits)
    dims = _spatial(scores)
    if _args.may_read(prob) and not truth.requires_grad and prob.numel() and prob.is_contiguous():
        lead = prob.shape[: dims[0]]
        masks = [value.reshape(lead.numel(), -1) for value in (prob, truth)]
        rows, true = _Closed.apply(*masks, ratio, options.eps, options.form == "squared")
        return rows.view(lead), true.view(lead)
    inter, pred, true = _sums(prob, truth, options.form, dims)
    return _loss(ratio, inter, pred, true, options.eps), true


class _Closed(torch.autograd.Function):
    """The loss of masks (R, L) with its gradient written out, a few masks at a time."""

    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx,
        prob: Tensor,
        truth: Tensor,
        ratio: Ratio,
        eps: float,
        squared: bool,
    ) -> tuple[Tensor, Tensor]:
        several = _at_once(prob)
        parts = [_part_sums(*pair, squared) for pair in zip(prob.split(several), truth.split(several), strict=True)]
        inter, pred, true = (torch.cat(column) for column in zip(*parts, strict=True))
        above = ratio.k * inter + eps
        below = ratio.a * pred + ratio.b * true + ratio.c * inter + eps
        ctx.save_for_backward(prob, truth, (above * ratio.c / below - ratio.k) / below, above * ratio.a / below / below)
        ctx.how = (ratio, eps, squared)  # type: ignore[attr-defined]  # a ctx takes any attribute
        ctx.mark_non_differentiable(true)
        return 1.0 - above / below, true

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, *grads: Tensor) -> tuple[Tensor, None, None, None, None]:
        prob, truth, by_inter, by_pred = ctx.saved_tensors  # type: ignore[attr-defined]  # ctx has it at run time
        ratio, eps, squared = ctx.how  # type: ignore[attr-defined]  # set above
        if _args.twice():
            form = "squared" if squared else "linear"
            plain = _args.again(lambda x: _loss(ratio, *_sums(x, truth, form, (1,)), eps), prob, grads[0])
            return plain, None, None, None, None
        slope, several = torch.empty_like(prob), _at_once(prob)
        columns = ((by_inter * grads[0])[:, None], (by_pred * grads[0])[:, None])
        for out, p, t, inter, pred in zip(*(one.split(several) for one in (slope, prob, truth, *columns)), strict=True):
            torch.mul(t, inter, out=out)
            out.addcmul_(p, pred, value=2.0) if squared else out.add_(pred)
        return slope, None, None, None, None


def _at_once(masks: Tensor) -> int:
    """How many masks (R, L) to take at a time, so that the second pass over them finds them in the cache."""
    return max(2**17 // masks.shape[1], 1)


def _part_sums(prob: Tensor, truth: Tensor, squared: bool) -> tuple[Tensor, Tensor, Tensor]:
    buffer = torch.mul(prob, truth)
    inter = buffer.sum(1)
    if not squared:
        return inter, prob.sum(1), truth.sum(1)
    return inter, torch.mul(prob, prob, out=buffer).sum(1), torch.mul(truth, truth, out=buffer).sum(1)


_ONE_PROGRAM = 4096  # masks whose losses one program may add up


def _fused(scores: Tensor, targets: Tensor, ratio: Ratio, options: Options) -> Tensor:
    flags = 1 * options.from_logits + 2 * (options.form == "squared") + 4 * (options.ignore_index is not None)
    flags += 8 * (not targets.is_floating_point())
    lead = scores.shape[: _spatial(scores)[0]]
    rows = math.prod(lead)
    inside = options.which == "count" and rows <= _ONE_PROGRAM
    how = How(
        rows,
        [ratio.k, ratio.a, ratio.b, options.eps],  # c is always k - a - b
        options.ignore_index or 0,
        flags,
        {"none": 0, "sum": 1, "mean": 2}[options.reduction] if inside else 0,
    )
    loss, kept = _Overlap.apply(scores.contiguous(), targets.contiguous(), how)
    if how.reduction:
        reduced: Tensor = loss
        return reduced
    return _kept(loss.view(lead), kept[0].view(lead), options)


class How(NamedTuple):
    """What the kernels need to know besides the masks; `reduction` is 0 for none, 1 for the sum, 2 for the mean."""

    rows: int
    factors: list[float]
    ignore: int
    flags: int
    reduction: int


def _slowly(scores: Tensor, targets: Tensor, how: How) -> Tensor:
    """The loss by torch's own operators, for a gradient of the gradient."""
    k, a, b, eps = how.factors
    scores, targets = (value.reshape(how.rows, -1) for value in (scores, targets))
    prob = torch.sigmoid(_args.wide(scores)) if how.flags & 1 else _args.wide(scores)
    truth = (targets != 0 if how.flags & 8 else targets).to(prob.dtype)
    if how.flags & 4:
        prob, truth = (torch.where(targets != how.ignore, value, 0.0) for value in (prob, truth))
    sums = _sums(prob, truth, "squared" if how.flags & 2 else "linear", (1,))
    return _args.reduced(_loss(Ratio(k, a, b, k - a - b), *sums, eps), ("none", "sum", "mean")[how.reduction])


class _Overlap(torch.autograd.Function):
    """The kernels: one pass forward that keeps three numbers a mask, one pass backward."""

    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx, scores: Tensor, targets: Tensor, how: How
    ) -> tuple[Tensor, Tensor]:
        loss, kept = _ops.two("overlap_loss", scores, targets, *how)
        ctx.save_for_backward(scores, targets, kept)
        ctx.how = how  # type: ignore[attr-defined]  # a ctx takes any attribute
        ctx.mark_non_differentiable(kept)
        ctx.set_materialize_grads(False)
        return loss, kept

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, *grads: Tensor | None) -> tuple[Tensor | None, None, None]:
        scores, targets, kept = ctx.saved_tensors  # type: ignore[attr-defined]  # ctx has it at run time
        how: How = ctx.how  # type: ignore[attr-defined]  # set above
        above = grads[0]
        if above is None:
            return None, None, None
        if _args.twice():
            return _args.again(lambda x: _slowly(x, targets, how), scores, above), None, None
        return (
            _ops.one("overlap_back", scores, targets, kept, above.contiguous(), how.ignore, how.flags, how.reduction),
            None,
            None,
        )


def _check(function: str, options: Options) -> None:
    _args.one_of(function, "reduction", options.reduction, _args.REDUCTIONS)
    _args.one_of(function, "form", options.form, ("squared", "linear"))
    if options.eps <= 0:
        raise ValueError(f"{function}: eps is {options.eps}; it must be above 0, or an empty mask divides by zero.")


def _check_range(function: str, prob: Tensor, truth: Tensor, from_logits: bool) -> None:
    if not _args.may_read(prob) or prob.numel() == 0:
        return
    pairs = [("targets", truth)] if from_logits else [("targets", truth), ("scores", prob)]
    for name, value in pairs:
        low, high = (bound.item() for bound in torch.aminmax(value.detach()))
        if low < 0 or high > 1:
            cure = "pass logits with from_logits=True" if name == "scores" else "divide masks of 255 by 255"
            raise ValueError(f"{function}: {name} run from {low:.4g} to {high:.4g}; they must lie in [0, 1]: {cure}.")


def _sums(prob: Tensor, truth: Tensor, form: str, dims: tuple[int, ...]) -> tuple[Tensor, Tensor, Tensor]:
    inter = (prob * truth).sum(dims)
    if form == "squared":
        return inter, (prob * prob).sum(dims), (truth * truth).sum(dims)
    return inter, prob.sum(dims), truth.sum(dims)


def _loss(ratio: Ratio, inter: Tensor, pred: Tensor, true: Tensor, eps: float) -> Tensor:
    below = ratio.a * pred + ratio.b * true + ratio.c * inter + eps
    return 1.0 - (ratio.k * inter + eps) / below


def _multiclass(function: str, scores: Tensor, labels: Tensor, ratio: Ratio, options: Options) -> Tensor:
    _check(function, options)
    _args.one_of(function, "classes", options.which, ("present", "all"))
    ignore = -100 if options.ignore_index is None else options.ignore_index
    labels = _args.labels_of_classes(function, scores, labels, ignore)
    prob = torch.softmax(_args.wide(scores), dim=1) if options.from_logits else _args.wide(scores)
    keep = labels != ignore
    hot = F.one_hot(torch.where(keep, labels, 0), scores.shape[1]).movedim(-1, 1).to(prob.dtype) * keep.unsqueeze(1)
    prob = prob * keep.unsqueeze(1)
    inter, pred, true = _sums(prob, hot, options.form, tuple(range(2, scores.ndim)))
    rows = _loss(ratio, inter, pred, true, options.eps)
    if options.which == "all":
        return _args.reduced(rows, options.reduction)
    present = true > 0
    return _args.reduced(rows * present, options.reduction, present.sum())
