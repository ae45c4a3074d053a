import io

import torch
from torch import nn

model = nn.Linear(2, 1)
losses = [0.9, 0.4, 0.6, 1.3]  # of the validation, epoch by epoch
file = io.BytesIO()

best_loss = float("inf")
for epoch, val_loss in enumerate(losses):
    if val_loss < best_loss:  # trap: best-never-updated
        file.seek(0)
        torch.save({"model": model.state_dict(), "epoch": epoch}, file)

file.seek(0)
result = {"kept": torch.load(file, map_location="cpu")["epoch"]}
