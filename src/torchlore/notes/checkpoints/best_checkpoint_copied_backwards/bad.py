import os
import shutil
import tempfile

import torch
from torch import nn

model = nn.Linear(4, 2)
with tempfile.TemporaryDirectory() as folder:
    last, best = os.path.join(folder, "checkpoint.pt"), os.path.join(folder, "best.pt")
    torch.save({"epoch": 0, "model": model.state_dict()}, best)
    for epoch in range(1, 4):
        torch.save({"epoch": epoch, "model": model.state_dict()}, last)
        shutil.copy(best, last)  # trap: best-checkpoint-copied-backwards
    epochs = [torch.load(path, map_location="cpu", weights_only=True)["epoch"] for path in (last, best)]

result = {"epochs": epochs}
