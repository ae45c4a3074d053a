import csv
from pathlib import Path

import torch


def plain(path, rows):
    with open(path, "w") as f:  # trap: csv-without-newline
        csv.writer(f).writerows(rows)


def appended(path: Path, row):
    with path.open("a", encoding="utf-8") as file:  # trap: csv-without-newline
        writer = csv.DictWriter(file, fieldnames=list(row))
        writer.writerow(row)


def not_closed(path, rows):
    file = open(path, "wt")  # trap: csv-without-newline
    out = csv.writer(file)
    out.writerows(rows)
    file.close()


def clean(path, rows, file, opener):
    with open(path, "w", newline="") as f:
        csv.writer(f).writerows(rows)
    with open(path, "w") as f:
        f.write("a,b\n")
    csv.writer(file).writerows(rows)
    with opener(path) as f:
        csv.writer(f).writerows(rows)
    with open(path, "wb") as f:
        torch.save(rows, f)
