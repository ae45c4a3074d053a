import csv
import tempfile
from pathlib import Path

import torch

scores = torch.tensor([0.25, 0.5])
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "report.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["class", "comment", "score"])
        for name, score in zip(["cat", "dog"], scores, strict=True):
            writer.writerow([name, "a\r\nb", f"{score.item():.3f}"])
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))

result = {"fields": sorted({row[1] for row in rows[1:]})}
