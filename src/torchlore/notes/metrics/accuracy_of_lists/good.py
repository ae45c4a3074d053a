import numpy as np
import torch

scores = torch.tensor([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.6, 0.4]])
all_label, all_prediction = [], []
for score, label in zip(scores, torch.tensor([0, 1, 0, 1]), strict=True):
    all_label.append(label.item())
    all_prediction.append(score.argmax().item())

accuracy = np.mean(np.asarray(all_label) == np.asarray(all_prediction)) * 100
result = {"accuracy": float(accuracy)}
