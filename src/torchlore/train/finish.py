"""After the last step: test the best weights, write the figures as JSON and CSV, and the report."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from torchlore.finding import Finding
from torchlore.recipes import metrics
from torchlore.report import charts, confusion, page
from torchlore.train.evaluate import Predicted
from torchlore.train.fit import evaluated
from torchlore.train.journal import read
from torchlore.train.run import changes
from torchlore.train.samples import Samples
from torchlore.train.setup import Ready

WORST = 60  # mistakes shown as pictures


def test(made: Ready, out: Path, samples: Samples) -> dict[str, Any]:
    """Every figure of a split under the model's weights; written as test.json and test.csv."""
    predicted = evaluated(made, samples)
    classes = len(made.data.classes)
    matrix = metrics.confusion_matrix(predicted.logits.argmax(1), predicted.labels, classes)
    figures = summary(predicted, matrix)
    if made.world.rank == 0:
        more = {"classes": class_figures(matrix, made.data.classes), "confusion": matrix.tolist()}
        (out / "test.json").write_text(json.dumps(figures | more, indent=1), encoding="utf-8")
        metrics.write_report(out / "test.csv", matrix, made.data.classes)
    return figures | {"matrix": matrix, "predicted": predicted}


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


def write_report(
    made: Ready, folder: Path, tested: dict[str, Any] | None, found: list[Finding] | None, out: Path
) -> Path:
    """report.html in `out`: everything about the run of a folder on one page; None for what was not looked at."""
    epochs = [record for record in read(folder / "log.jsonl") if record["kind"] == "epoch"]
    calm = '<p class="dim">Nothing: no silent trap was seen.</p>'
    parts = (
        _tiles(tested, len(epochs)),
        page.section("What the watch found", page.findings(found) or calm) if found is not None else "",
        page.section("Curves", f'<div class="charts">{curves(epochs)}</div>'),
        _tested(made, tested) if tested else "",
        page.section("Left out", page.table(("file", "why"), made.data.skipped) if made.data.skipped else ""),
        page.section("Run", page.table(("option", "value"), asdict(made.run).items(), sortable=False)),
        page.section("Environment", page.table(("what", "version"), environment(made).items(), sortable=False)),
    )
    changed = ", ".join(f"--{name.replace('_', '-')} {value}" for name, value in changes(made.run).items())
    line = f'<p class="dim">{page.text(changed or "every option at its default")}</p>'
    path = out / "report.html"
    path.write_text(page.page(f"{made.run.model} on {made.data.name}", line, *parts), encoding="utf-8")
    return path


def _tiles(tested: dict[str, Any] | None, epochs: int) -> str:
    if tested is None:
        return page.tiles({"epochs": epochs, "test samples": 0})
    return page.tiles(
        {
            "test accuracy": f"{tested['accuracy']:.2%}",
            "macro F1": f"{tested['macro_f1']:.4f}",
            "calibration error": f"{tested['calibration_error']:.4f}",
            "test samples": tested["samples"],
            "epochs": epochs,
        }
    )


def _tested(made: Ready, tested: dict[str, Any]) -> str:
    names = made.data.classes
    wrong = confusion.gallery(mistakes(tested["predicted"], made.data.test), names)
    return (
        page.section("Confusion", confusion.matrix(tested["matrix"].tolist(), names))
        + page.section("The worst mistakes", wrong)
        + page.section("Classes", per_class(tested["matrix"], names))
    )


def curves(epochs: list[dict[str, Any]]) -> str:
    """Loss, accuracy, learning rate and throughput by epoch."""

    def of(name: str) -> list[tuple[float, float]]:
        return [(record["epoch"], float(record[name])) for record in epochs if name in record]

    drawn = (
        charts.lines("loss", {"train": of("loss"), "validation": of("val_loss")}, "epoch"),
        charts.lines("accuracy", {"validation": of("val_accuracy")}, "epoch"),
        charts.lines("learning rate", {"rate": of("lr")}, "epoch"),
        charts.lines("samples a second", {"training": of("rate")}, "epoch"),
        charts.lines("memory in MiB", {"peak": of("memory")}, "epoch"),
    )
    return "".join(drawn)


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


def environment(made: Ready) -> dict[str, str]:
    """What the run ran on."""
    gpu = torch.cuda.get_device_name(made.device) if made.device.type == "cuda" else "none"
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "device": str(made.device),
        "GPU": gpu,
        "system": platform.platform(),
        "processes": str(made.world.size),
    }
