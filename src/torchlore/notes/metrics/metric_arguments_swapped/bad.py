import torch
from sklearn.metrics import precision_score, recall_score

y_true = torch.tensor([1, 1, 1, 1, 0, 0, 0, 0])
y_pred = torch.tensor([1, 0, 0, 0, 0, 0, 0, 0])

precision = precision_score(y_pred, y_true)  # trap: metric-arguments-swapped
recall = recall_score(y_pred, y_true)  # trap: metric-arguments-swapped

result = {"precision": float(precision), "recall": float(recall)}
