"""The report of the notes: one line a class with its most confused classes. Users import it from `metrics`."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from torchlore.recipes import _wants

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from torch import Tensor


def most_confused(matrix: Tensor, k: int = 5) -> list[list[tuple[int, int]]]:
    """For each class the classes it was taken for, as (class, count), most often first; at most min(k, C - 1).

    Reads the row of the class without its diagonal, and leaves out classes it was never taken for.

    >>> most_confused(torch.tensor([[5, 0, 2], [1, 4, 0], [0, 0, 9]]))
    [[(2, 2)], [(0, 1)], []]
    """
    _wants.kind("most_confused", torch.Tensor, "a tensor (C, C) with row = truth", matrix=matrix)
    _wants.whole("most_confused", 1, k=k)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"most_confused: matrix has shape {tuple(matrix.shape)}; it must be (C, C) with row = truth.")
    wrong = matrix.cpu() - torch.diag(matrix.cpu().diagonal())
    counts, order = wrong.sort(dim=1, descending=True, stable=True)
    top = min(k, matrix.shape[0] - 1)
    return [
        [(place, number) for place, number in zip(places, numbers, strict=True) if number > 0]
        for places, numbers in zip(order[:, :top].tolist(), counts[:, :top].tolist(), strict=True)
    ]


def report_rows(matrix: Tensor, names: Sequence[str] | None = None, *, k: int = 5) -> list[dict[str, str]]:
    """The report as rows: one a class, then "All" once, with micro, and "Mean" with macro averages.

    >>> rows = report_rows(torch.tensor([[1, 1], [0, 2]]), ["cat", "dog"])
    >>> rows[0]["Class"], rows[0]["Recall"], rows[0]["Confused class 1"]
    ('cat', '0.500', 'dog:1')
    """
    from torchlore.recipes.metrics import precision_recall_f1

    confused = most_confused(matrix, k)
    classes = matrix.shape[0]
    given = range(classes) if names is None else _wants.several("report_rows", object, "a name", names=names)
    words = [str(name) for name in given]
    if len(words) != classes:
        raise ValueError(f"report_rows: names are {words} for {classes} classes; give one for each.")
    columns = [f"Confused class {i + 1}" for i in range(min(k, classes - 1))]
    scores = [part.tolist() for part in precision_recall_f1(matrix)]
    rows = []
    for c in range(classes):
        values = [part[c] for part in scores]
        pairs = [f"{words[other]}:{number}" for other, number in confused[c]]
        rows.append(_row(words[c], str(c), values) | dict(zip(columns, pairs + [""] * len(columns), strict=False)))
    for title, average in (("All", "micro"), ("Mean", "macro")):
        total = [part.item() for part in precision_recall_f1(matrix, average)]  # type: ignore[arg-type]  # two literals
        rows.append(_row(title, "", total) | dict.fromkeys(columns, ""))
    return rows


def _row(name: str, label: str, values: Sequence[float]) -> dict[str, str]:
    precision, recall, f1, support = values
    return {
        "Class": name,
        "Label": label,
        "Support": str(int(support)),
        "Precision": f"{precision:.3f}",
        "Recall": f"{recall:.3f}",
        "F1": f"{f1:.3f}",
    }


def write_report(path: str | PathLike[str], matrix: Tensor, names: Sequence[str] | None = None, *, k: int = 5) -> None:
    """Write the report as CSV (UTF-8, one line ending on every system).

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(f"{folder}/report.csv", torch.tensor([[1, 1], [0, 2]]), ["cat", "dog"])
    ...     pathlib.Path(f"{folder}/report.csv").read_text().splitlines()[1]
    'cat,0,2,1.000,0.500,0.667,dog:1'
    """
    _wants.path("write_report", path=path)
    rows = report_rows(matrix, names, k=k)
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
