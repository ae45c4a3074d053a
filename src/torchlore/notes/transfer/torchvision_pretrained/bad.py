import warnings

import torch
from torchvision import models

with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    model = models.squeezenet1_1(pretrained=False, num_classes=5)  # trap: torchvision-pretrained

model.eval()
with torch.no_grad():
    scores = model(torch.zeros(1, 3, 64, 64))

result = {"warnings": len(seen), "outputs": scores.shape[1]}
