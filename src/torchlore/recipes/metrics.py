"""Metrics: a confusion matrix that is counted on the device, what follows from it, ranking, retrieval, calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import torch
from torch import Tensor

from torchlore.recipes import _args, _wants
from torchlore.recipes._counting import count_pairs
from torchlore.recipes._ranking import (
    Retrieval,
    average_precision,
    mean_average_precision,
    retrieval,
)
from torchlore.recipes._report import most_confused, report_rows, write_report

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "Calibration",
    "ConfusionMatrix",
    "Retrieval",
    "Scores",
    "accuracy",
    "average_precision",
    "calibration",
    "confusion_matrix",
    "iou",
    "mean_average_precision",
    "most_confused",
    "precision_recall_f1",
    "report_rows",
    "retrieval",
    "topk_accuracy",
    "write_report",
]

Average = Literal["micro", "macro", "weighted"]


def _predicted(function: str, prediction: Tensor, target: Tensor) -> Tensor:
    """Class labels of the shape of `target`, from labels of that shape or from scores with a class dimension."""
    if target.is_floating_point():
        raise TypeError(f"{function}: target has dtype {target.dtype}; it must hold integer class labels.")
    scores_shape = prediction.ndim == target.ndim + 1
    if scores_shape and (prediction.shape[0], *prediction.shape[2:]) == target.shape:
        return prediction.argmax(1)
    if prediction.shape != target.shape:
        raise ValueError(
            f"{function}: prediction has shape {tuple(prediction.shape)} and target {tuple(target.shape)}; they must be "
            "equal, or the prediction must be scores (N, C, ...) for labels (N, ...)."
        )
    if prediction.is_floating_point():
        raise TypeError(
            f"{function}: prediction has dtype {prediction.dtype} and target's shape; it must hold integer labels, or "
            "be scores with a class dimension."
        )
    return prediction


def _refuse(function: str, outside: int, classes: int) -> None:
    if outside:
        raise ValueError(
            f"{function}: {outside} pairs hold a label outside 0 to {classes - 1}; raise num_classes, or write "
            "ignore_index=... for the label that means 'none'."
        )


def confusion_matrix(
    prediction: Tensor, target: Tensor, num_classes: int, *, ignore_index: int | None = None
) -> Tensor:
    """Counts (C, C): cell [i, j] is how often truth i was called j; int64, on the device of the labels.

    `prediction` holds labels like `target`, or scores (N, C, ...). Labels out of range raise; they are never dropped.

    >>> confusion_matrix(torch.tensor([1, 1, 0]), torch.tensor([0, 1, 0]), 2).tolist()
    [[1, 1], [0, 1]]
    """
    _check_classes("confusion_matrix", num_classes)
    counts = count_pairs(_predicted("confusion_matrix", prediction, target), target, num_classes, ignore_index)
    if not torch.compiler.is_compiling():
        _refuse("confusion_matrix", int(counts[-1]), num_classes)
    return counts[:-1].view(num_classes, num_classes)


def _check_classes(function: str, classes: int) -> None:
    _wants.whole(function, 1, num_classes=classes)


class ConfusionMatrix:
    """A confusion matrix filled batch by batch on the device; `update` never makes the device wait.

    Labels out of range are counted apart, and `compute` raises if there were any.

    >>> matrix = ConfusionMatrix(2)
    >>> matrix.update(torch.tensor([[0.1, 0.9], [0.8, 0.2]]), torch.tensor([0, 0]))
    >>> matrix.compute().tolist()
    [[1, 1], [0, 0]]
    """

    def __init__(
        self, num_classes: int, *, ignore_index: int | None = None, device: torch.device | str | None = None
    ) -> None:
        _check_classes("ConfusionMatrix", num_classes)
        if ignore_index is not None:
            _wants.whole("ConfusionMatrix", ignore_index=ignore_index)
        self.num_classes = num_classes
        self.ignore_index = ignore_index
        self.counts = torch.zeros(num_classes * num_classes + 1, dtype=torch.int64, device=device)

    @torch.no_grad()
    def update(self, prediction: Tensor, target: Tensor) -> None:
        """Count one batch of labels, or of scores (N, C, ...), against labels (N, ...)."""
        prediction = _predicted("ConfusionMatrix.update", prediction, target)
        if self.counts.device != target.device:
            self.counts = self.counts.to(target.device)
        self.counts += count_pairs(prediction, target, self.num_classes, self.ignore_index)

    def merge(self, other: ConfusionMatrix) -> None:
        """Add another matrix's counts to this one."""
        if other.num_classes != self.num_classes:
            raise ValueError(
                f"ConfusionMatrix.merge: {other.num_classes} classes cannot be added to {self.num_classes}."
            )
        self.counts += other.counts.to(self.counts.device)

    def sync(self) -> None:
        """Add up the counts of all processes of the group, in each of them; call it once, before `compute`."""
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            torch.distributed.all_reduce(self.counts)

    def compute(self) -> Tensor:
        """The matrix (C, C), row = truth; raises if any label was out of range."""
        _refuse("ConfusionMatrix.compute", int(self.counts[-1]), self.num_classes)
        return self.counts[:-1].view(self.num_classes, self.num_classes).clone()

    def reset(self) -> None:
        """Forget everything counted."""
        self.counts.zero_()


def accuracy(prediction: Tensor, target: Tensor, *, ignore_index: int | None = None) -> Tensor:
    """The share of labels that are right, a 0-dim tensor on the device; 0 if none counts.

    >>> accuracy(torch.tensor([[0.1, 0.9], [0.8, 0.2]]), torch.tensor([1, 1])).item()
    0.5
    """
    right = _predicted("accuracy", prediction, target) == target
    if ignore_index is None:
        return right.sum() / max(right.numel(), 1)
    keep = target != ignore_index
    return (right & keep).sum() / keep.sum().clamp_min(1)


def topk_accuracy(
    scores: Tensor, target: Tensor, k: Sequence[int] = (1, 5), *, ignore_index: int | None = None
) -> tuple[Tensor, ...]:
    """For each k the share of samples whose label is among the k highest scores (N, C, ...).

    A k above C counts as C. Ties are broken as `topk` breaks them; NaN scores never count as right.

    >>> [round(v.item(), 2) for v in topk_accuracy(torch.tensor([[0.2, 0.5, 0.3]]), torch.tensor([2]), k=(1, 2))]
    [0.0, 1.0]
    """
    _args.floating("topk_accuracy", "scores", scores)
    if (scores.shape[0], *scores.shape[2:]) != tuple(target.shape) or scores.ndim < 2:
        raise ValueError(
            f"topk_accuracy: scores have shape {tuple(scores.shape)} and target {tuple(target.shape)}; they must be "
            "(N, C, ...) and (N, ...)."
        )
    if not k or min(k) < 1:
        raise ValueError(f"topk_accuracy: k is {tuple(k)}; it must hold numbers from 1 up.")
    best, top = scores.topk(min(max(k), scores.shape[1]), dim=1)
    right = (top == target.unsqueeze(1)) & ~best[:, :1].isnan()  # topk puts a NaN first
    if ignore_index is None:
        return tuple(right[:, :size].sum() / max(target.numel(), 1) for size in k)
    keep = target != ignore_index
    right = right & keep.unsqueeze(1)
    count = keep.sum().clamp_min(1)
    return tuple(right[:, :size].sum() / count for size in k)


class Scores(NamedTuple):
    """Precision, recall, F1 and support: one number each, or one per class."""

    precision: Tensor
    recall: Tensor
    f1: Tensor
    support: Tensor


def _check_matrix(function: str, matrix: Tensor) -> Tensor:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{function}: matrix has shape {tuple(matrix.shape)}; it must be (C, C) with row = truth.")
    return matrix.double()


def _divide(above: Tensor, below: Tensor, zero_division: float) -> Tensor:
    return torch.where(below == 0, zero_division, above / torch.where(below == 0, 1.0, below))


def precision_recall_f1(matrix: Tensor, average: Average | None = None, *, zero_division: float = 0.0) -> Scores:
    """Precision, recall, F1 and support from a confusion matrix, per class or averaged, as scikit-learn defines them.

    A ratio without a denominator (a class never predicted, never seen) is `zero_division`, without a warning. "micro"
    equals the accuracy for all three; "weighted" is the mean by support, "macro" the plain mean over the classes that
    occur or are predicted: one that does neither would count as wrong everywhere.

    >>> [round(v.item(), 4) for v in precision_recall_f1(torch.tensor([[2, 1], [0, 3]]), "macro")]
    [0.875, 0.8333, 0.8286, 6.0]
    """
    if average is not None:
        _args.one_of("precision_recall_f1", "average", average, ("micro", "macro", "weighted"))
    counts = _check_matrix("precision_recall_f1", matrix)
    hits, called, support = counts.diagonal(), counts.sum(0), counts.sum(1)
    if average == "micro":
        hits, called, support = hits.sum(), called.sum(), support.sum()
    precision, recall = _divide(hits, called, zero_division), _divide(hits, support, zero_division)
    f1 = _divide(2 * hits, called + support, zero_division)
    if average in (None, "micro"):
        return Scores(precision, recall, f1, support)
    weight = (called + support > 0).to(f1.dtype) if average == "macro" else support
    share = _divide(weight, weight.sum(), 0.0)
    return Scores((precision * share).sum(), (recall * share).sum(), (f1 * share).sum(), support.sum())


def iou(matrix: Tensor, average: Literal["macro", "weighted"] | None = None, *, absent: float = 0.0) -> Tensor:
    """Intersection over union from a confusion matrix, per class or averaged.

    A class that neither occurs nor is predicted has the value `absent` per class, and is left out of the averages.

    >>> [round(v, 4) for v in iou(torch.tensor([[2, 1], [0, 3]])).tolist()]
    [0.6667, 0.75]
    """
    if average is not None:
        _args.one_of("iou", "average", average, ("macro", "weighted"))
    counts = _check_matrix("iou", matrix)
    hits, support = counts.diagonal(), counts.sum(1)
    union = counts.sum(0) + support - hits
    each = _divide(hits, union, absent)
    if average is None:
        return each
    share = (union > 0).to(each.dtype) if average == "macro" else support
    return _divide((each * share).sum(), share.sum(), 0.0)


class Calibration(NamedTuple):
    """Expected calibration error, and per bin the mean confidence, the accuracy and the number of samples."""

    error: Tensor
    confidence: Tensor
    accuracy: Tensor
    samples: Tensor


def calibration(
    scores: Tensor, target: Tensor, *, bins: int = 15, norm: Literal["l1", "l2", "max"] = "l1", from_logits: bool = True
) -> Calibration:
    """How far the confidence of the winning class lies from its accuracy (ECE), over equal bins of confidence.

    "l1" is the expected, "max" the maximum calibration error. Scores are (N, C) logits, or probabilities with
    `from_logits=False`.

    >>> scores = torch.tensor([[0.8, 0.2], [0.8, 0.2]])
    >>> round(calibration(scores, torch.tensor([0, 1]), from_logits=False).error.item(), 4)
    0.3
    """
    _args.one_of("calibration", "norm", norm, ("l1", "l2", "max"))
    _args.floating("calibration", "scores", scores)
    if scores.ndim != 2 or target.shape != scores.shape[:1] or bins < 1:
        raise ValueError(
            f"calibration: scores have shape {tuple(scores.shape)}, target {tuple(target.shape)}, bins is {bins}; they "
            "must be (N, C), (N,) and at least 1."
        )
    highest, label = (scores.softmax(1) if from_logits else scores).max(1)
    confidence = highest.double()
    place = (confidence * bins).ceil().long().sub(1).clamp(0, bins - 1)
    values = torch.stack([torch.ones_like(confidence), confidence, (label == target).double()])
    count, total, right = values.new_zeros(3, bins).index_add_(1, place, values)
    sure, exact = _divide(total, count, 0.0), _divide(right, count, 0.0)
    gap, share = (sure - exact).abs(), _divide(count, count.sum(), 0.0)
    errors = {"l1": (gap * share).sum(), "l2": (gap.square() * share).sum().sqrt(), "max": gap.max()}
    return Calibration(errors[norm], sure, exact, count.long())
