"""What a test says: figures, the table of classes, and the pictures that went worst with truth and prediction over them."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from torchlore.recipes import metrics
from torchlore.recipes.tensors import to_pil
from torchlore.report import confusion, overlays, page
from torchlore.train.files import resize
from torchlore.train.samples import Samples
from torchlore.train.segment.pairs import IGNORE, Pairs, nearest
from torchlore.train.tested import Tested

SHOWN = 12  # pictures in the report
HEADS = {"iou": "IoU", "dice": "Dice", "precision": "Precision", "recall": "Recall", "pixels": "Pixels"}
LARGEST = 320  # pixels of a shown picture's longer side


@dataclass(frozen=True)
class Shown:
    """One picture's prediction, kept for the report."""

    miou: float
    index: int
    said: Tensor  # (H, W) uint8


@dataclass(frozen=True)
class Found:
    """What is found of a split: one confusion matrix over all its pixels, and the pictures that went worst."""

    matrix: Tensor  # (C, C) pixels, row = truth
    loss: float
    samples: int
    worst: tuple[Shown, ...]


def worst(shown: Sequence[Shown]) -> tuple[Shown, ...]:
    """The few worst, the worst first."""
    return tuple(sorted(shown, key=lambda one: (one.miou, one.index))[:SHOWN])


def summary(found: Found) -> dict[str, Any]:
    """The figures of a split that fit on a line each; a class that neither occurs nor is said counts in no mean."""
    matrix = found.matrix
    total = max(1, int(matrix.sum()))
    occurs = matrix.sum(1) > 0
    scores = metrics.precision_recall_f1(matrix)
    involved = (matrix.sum(1) + matrix.sum(0)) > 0
    return {
        "samples": found.samples,
        "pixels": int(matrix.sum()),
        "miou": float(metrics.iou(matrix, "macro")),
        "weighted_iou": float(metrics.iou(matrix, "weighted")),
        "mean_dice": float(scores.f1[involved].mean()) if bool(involved.any()) else 0.0,
        "pixel_accuracy": int(matrix.diagonal().sum()) / total,
        "mean_accuracy": float(scores.recall[occurs].mean()) if bool(occurs.any()) else 0.0,
        "loss": found.loss,
    }


def class_figures(matrix: Tensor, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """IoU, Dice, precision, recall and pixels by class; None for the IoU and Dice of one that neither occurs nor is said."""
    scores, each = metrics.precision_recall_f1(matrix), metrics.iou(matrix)
    involved = ((matrix.sum(1) + matrix.sum(0)) > 0).tolist()
    return {
        name: {
            "iou": float(each[c]) if involved[c] else None,
            "dice": float(scores.f1[c]) if involved[c] else None,
            "precision": float(scores.precision[c]),
            "recall": float(scores.recall[c]),
            "pixels": int(scores.support[c]),
        }
        for c, name in enumerate(names)
    }


def tested(names: tuple[str, ...], samples: Samples, found: Found) -> Tested:
    """Every figure, the classes, the confusion of pixels, and overlays."""
    assert isinstance(samples, Pairs)
    figures, classes = summary(found), class_figures(found.matrix, names)
    rows = [
        {"Class": name, **{HEADS[key]: _cell(value) for key, value in one.items()}} for name, one in classes.items()
    ]
    mean = {"Class": "Mean", "IoU": _cell(figures["miou"]), "Dice": _cell(figures["mean_dice"])}
    rows.append(mean | {"Precision": "", "Recall": _cell(figures["mean_accuracy"]), "Pixels": str(figures["pixels"])})
    sections = (
        page.section("The worst pictures", overlays.gallery(panels(samples, found.worst), names, samples.colours)),
        page.section("Classes", page.table(list(rows[0]), [list(row.values()) for row in rows[:-1]])),
        page.section("Confusion of pixels", confusion.matrix(found.matrix.tolist(), names)),
    )
    shown = ("miou", "weighted_iou", "mean_dice", "pixel_accuracy", "mean_accuracy", "loss")
    line = ", ".join(f"{name.replace('_', ' ')} {figures[name]:.4f}" for name in shown)
    return Tested(
        figures={**figures, "classes": classes, "confusion": found.matrix.tolist()},
        rows=rows,
        lines=[*_lines(rows), f"{found.samples} pictures: {line}"],
        headline=f"test mIoU {figures['miou']:.2%} on {found.samples} pictures",
        tiles={
            "test mIoU": f"{figures['miou']:.2%}",
            "pixel accuracy": f"{figures['pixel_accuracy']:.2%}",
            "mean Dice": f"{figures['mean_dice']:.4f}",
            "test pictures": str(found.samples),
        },
        sections="".join(sections),
    )


def _cell(value: float | None) -> str:
    return "" if value is None else str(value) if isinstance(value, int) else f"{value:.4f}"


def _lines(rows: Sequence[dict[str, str]]) -> list[str]:
    width = max(len(row["Class"]) for row in rows)
    head = "  ".join([f"{'class':{width}}", *(f"{name:>9}" for name in list(rows[0])[1:])])
    return [
        head,
        *("  ".join([f"{row['Class']:{width}}", *(f"{c:>9}" for c in list(row.values())[1:])]) for row in rows),
    ]


def panels(samples: Pairs, shown: Sequence[Shown]) -> list[overlays.Panel]:
    """The pictures with their masks, small enough for a page."""
    found = []
    for one in shown:
        picture, truth = samples.open(samples.names[one.index])
        scale = min(1.0, LARGEST / max(truth.shape))
        height, width = (max(1, round(edge * scale)) for edge in truth.shape)
        truth, said = nearest(truth, height, width), nearest(one.said, height, width)
        wrong = ((truth != said) & (truth != IGNORE)).to(torch.uint8)
        photo = _jpeg(resize(picture, height, width))
        masks = (bytes(mask.flatten().tolist()) for mask in (truth, said, wrong))
        name = samples.names[one.index].partition("|")[0]
        found.append(overlays.Panel(name, one.miou, photo, width, height, *masks))
    return found


def _jpeg(picture: Tensor) -> str:
    buffer = io.BytesIO()
    to_pil(picture).save(buffer, "JPEG", quality=85)
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode()
