import io
import pickle

import numpy as np
import torch
from torch import nn

model = nn.Linear(4, 2)
label, prediction = np.array([0, 1, 1, 0]), np.array([0, 1, 0, 0])
best_acc = np.mean(label == prediction) * 100
file = io.BytesIO()
torch.save({"model": model.state_dict(), "best_acc": float(best_acc)}, file)
file.seek(0)
try:
    resumed = torch.load(file, map_location="cpu", weights_only=True)["best_acc"]
except pickle.UnpicklingError as error:
    resumed = type(error).__name__

result = {"resumed": resumed}
