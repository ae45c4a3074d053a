"""Whom a class is taken for stands in its row, off the diagonal; the total is written once.

The report of the notes lists "confused classes" out of the column `matrix[:, c]`, with the diagonal left in. So the top
confusion of a good class is the class itself, and a class that is always called something else shows only zeros:
exactly the one that needs attention looks clean. It also needs five classes (three are an IndexError), writes the total
row inside the loop, once for each class, and leaves the micro values unformatted.

Read the row, drop the diagonal, take `min(5, C - 1)`: `torchlore.recipes.metrics.write_report(path, matrix, names)`
does, and ends with one micro and one macro row.
"""

ROWS = ("metrics-csv",)
SOURCES = ("003:628-650",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim() -> None:
    import csv
    import tempfile
    from pathlib import Path

    import torch

    from torchlore.recipes.metrics import most_confused, write_report

    # class 0 is always called 1; class 1 and 2 are mostly right
    matrix = torch.tensor([[0, 9, 0], [0, 7, 2], [0, 1, 8]])
    from_column = [(int(i), int(matrix[i, 0])) for i in matrix[:, 0].argsort(descending=True)]
    assert all(count == 0 for _, count in from_column)  # the column says nothing about class 0
    assert int(matrix[:, 2].argmax()) == 2  # and a good class is confused with itself
    assert most_confused(matrix) == [[(1, 9)], [(2, 2)], [(1, 1)]]

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.csv"
        write_report(path, matrix, ["a", "b", "c"])
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    assert [row["Class"] for row in rows] == ["a", "b", "c", "All", "Mean"]  # three classes, totals once
    assert rows[0]["Confused class 1"] == "b:9"
