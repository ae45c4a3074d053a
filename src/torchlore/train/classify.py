"""Classification: a class for each picture. The functions that `tasks.Task` names, in its order, then their helpers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from torchlore.recipes import metrics
from torchlore.recipes.augment import cutmix, mixup, region_confusion
from torchlore.recipes.losses import l1_penalty, mixed_loss
from torchlore.recipes.seed import derive
from torchlore.report import confusion, page
from torchlore.train.batches import Batch, Plan
from torchlore.train.discover import open_data, other_data
from torchlore.train.evaluate import Predicted, predict
from torchlore.train.group import World
from torchlore.train.models import Built, build
from torchlore.train.run import Run
from torchlore.train.samples import Data, Samples
from torchlore.train.tested import Tested

if TYPE_CHECKING:
    from torchlore.train.setup import Ready

__all__ = ["build_model", "evaluate", "figure", "loss", "open_data", "other_data", "plan", "scores", "tested"]

WORST = 60  # mistakes shown as pictures


def build_model(run: Run, data: Data, *, load: bool = True) -> Built:
    """A network whose head gives the data's classes."""
    return build(run, len(data.classes), data.channels, load=load)


def plan(run: Run, data: Data, place: World) -> Plan:
    """Every sample once an epoch, in a random order."""
    del data
    return Plan(run.batch_size, run.seed, run.augment != "none", place.rank, place.size)


def loss(run: Run, prepare: Callable[[Tensor], Tensor], device: torch.device) -> Callable[[nn.Module, Batch], Tensor]:
    """The function that gives the mean loss of a batch under this run's recipe."""

    def of(model: nn.Module, batch: Batch) -> Tensor:
        pictures, labels = prepare(batch.pictures), batch.labels.to(device, non_blocking=True)
        if run.confusion or run.mixup or run.cutmix:
            value = _mixed(run, model, pictures, labels, batch)
        else:
            value = F.cross_entropy(model(pictures), labels, label_smoothing=run.label_smoothing)
        return value + run.l1 * l1_penalty(model.parameters()) if run.l1 else value

    return of


def evaluate(made: Ready, model: nn.Module, samples: Samples) -> Predicted:
    """The logits of every sample, once each."""
    return predict(model, samples, made.prepare, max(64, made.run.batch_size), made.world, made.workers)


def scores(predicted: Predicted) -> dict[str, float]:
    """The figures of a split that are logged at each evaluation."""
    return {"accuracy": predicted.accuracy, "loss": predicted.loss}


def figure(found: dict[str, float]) -> float:
    """What best.pt is best in: accuracy, and among equal ones, of which a small split has many, the smaller loss.

    >>> figure({"accuracy": 1.0, "loss": 0.1}) > figure({"accuracy": 1.0, "loss": 0.2})
    True
    """
    return found["accuracy"] + 1e-9 / (1 + found["loss"])


def tested(made: Ready, samples: Samples, found: Predicted) -> Tested:
    """Every figure, the confusion matrix, the worst mistakes as pictures."""
    names = made.data.classes
    matrix = metrics.confusion_matrix(found.logits.argmax(1), found.labels, len(names))
    figures = summary(found, matrix)
    shown = ("accuracy", "top5", "macro_f1", "weighted_f1", "calibration_error", "loss")
    line = ", ".join(f"{name.replace('_', ' ')} {figures[name]:.4f}" for name in shown if name in figures)
    tiles = {
        "test accuracy": f"{figures['accuracy']:.2%}",
        "macro F1": f"{figures['macro_f1']:.4f}",
        "calibration error": f"{figures['calibration_error']:.4f}",
        "test samples": str(figures["samples"]),
    }
    sections = (
        page.section("Confusion", confusion.matrix(matrix.tolist(), names)),
        page.section("The worst mistakes", confusion.gallery(mistakes(found, samples), names)),
        page.section("Classes", per_class(matrix, names)),
    )
    return Tested(
        figures={**figures, "classes": class_figures(matrix, names), "confusion": matrix.tolist()},
        rows=metrics.report_rows(matrix, names),
        lines=[*per_class_lines(matrix, names), f"{figures['samples']} samples: {line}"],
        headline=f"test accuracy {figures['accuracy']:.2%} on {figures['samples']} samples",
        tiles=tiles,
        sections="".join(sections),
    )


def _mixed(run: Run, model: nn.Module, pictures: Tensor, labels: Tensor, batch: Batch) -> Tensor:
    generator = torch.Generator().manual_seed(derive(run.seed, "mix", batch.epoch, batch.number, int(batch.indices[0])))
    if run.confusion:
        pictures = region_confusion(pictures, run.confusion, generator=generator)
    if not (run.mixup or run.cutmix):
        return F.cross_entropy(model(pictures), labels, label_smoothing=run.label_smoothing)
    mix, alpha = (mixup, run.mixup) if run.mixup else (cutmix, run.cutmix)
    mixed = mix(pictures, labels, alpha, generator=generator)
    return mixed_loss(model(mixed.images), mixed.first, mixed.second, mixed.share, epsilon=run.label_smoothing)


def class_figures(matrix: Tensor, names: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Precision, recall, F1, support and the classes it was most often taken for, by class."""
    scores, confused = metrics.precision_recall_f1(matrix), metrics.most_confused(matrix)
    return {
        name: {
            "precision": float(scores.precision[c]),
            "recall": float(scores.recall[c]),
            "f1": float(scores.f1[c]),
            "support": int(scores.support[c]),
            "confused": {names[other]: count for other, count in confused[c]},
        }
        for c, name in enumerate(names)
    }


def per_class_lines(matrix: Tensor, names: tuple[str, ...]) -> list[str]:
    """The figures of each class as lines of text."""
    width = max(5, *(len(name) for name in names))
    rows = [f"{'class':{width}}  precision  recall     F1  samples  most confused with"]
    for name, one in class_figures(matrix, names).items():
        confused = ", ".join(f"{other} {count}" for other, count in one["confused"].items())
        figures = f"{one['precision']:9.3f}  {one['recall']:6.3f}  {one['f1']:5.3f}  {one['support']:7}"
        rows.append(f"{name:{width}}  {figures}  {confused}".rstrip())
    return rows


def summary(predicted: Predicted, matrix: Tensor) -> dict[str, Any]:
    """The figures of a split that fit on a line each."""
    classes = len(matrix)
    macro, weighted = (metrics.precision_recall_f1(matrix, average) for average in ("macro", "weighted"))
    top = [k for k in (1, 5) if k <= classes]
    shares = metrics.topk_accuracy(predicted.logits, predicted.labels, top)
    return {
        "samples": len(predicted.labels),
        "accuracy": predicted.accuracy,
        "loss": predicted.loss,
        **{f"top{k}": float(share) for k, share in zip(top, shares, strict=True)},
        **{f"macro_{name}": float(getattr(macro, name)) for name in ("precision", "recall", "f1")},
        **{f"weighted_{name}": float(getattr(weighted, name)) for name in ("precision", "recall", "f1")},
        "calibration_error": float(metrics.calibration(predicted.logits, predicted.labels).error),
    }


def mistakes(predicted: Predicted, samples: Samples) -> list[confusion.Mistake]:
    """The mistakes the model was surest of."""
    surest, said = predicted.logits.softmax(1).max(1)
    wrong = (said != predicted.labels).nonzero().flatten()
    order = wrong[surest[wrong].argsort(descending=True)][:WORST].tolist()
    found = []
    for index in order:
        picture = samples.read([index], None)[0]
        channels, height, width = picture.shape
        data = confusion.png(bytes(picture.permute(1, 2, 0).flatten().tolist()), width, height, channels)
        found.append(
            confusion.Mistake(
                samples.names[index], int(predicted.labels[index]), int(said[index]), float(surest[index]), data
            )
        )
    return found


def per_class(matrix: Tensor, names: tuple[str, ...]) -> str:
    """Precision, recall, F1, support and the most confused classes, to sort."""
    rows = [
        (
            name,
            *(f"{one[figure]:.3f}" for figure in ("precision", "recall", "f1")),
            one["support"],
            ", ".join(f"{other} {count}" for other, count in one["confused"].items()),
        )
        for name, one in class_figures(matrix, names).items()
    ]
    return page.table(("class", "precision", "recall", "F1", "samples", "most confused with"), rows)
