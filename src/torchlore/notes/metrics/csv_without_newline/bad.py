import csv
import os
import tempfile

import torch

scores = torch.tensor([0.25, 0.5])
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "report.csv")
    with open(path, "w", encoding="utf-8") as file:  # trap: csv-without-newline
        writer = csv.writer(file)
        writer.writerow(["class", "comment", "score"])
        for name, score in zip(["cat", "dog"], scores):
            writer.writerow([name, "a\r\nb", f"{score.item():.3f}"])
    with open(path, encoding="utf-8") as file:  # trap: csv-without-newline
        rows = list(csv.reader(file))

result = {"fields": sorted({row[1] for row in rows[1:]})}
