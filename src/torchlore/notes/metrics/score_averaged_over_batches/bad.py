import torch
from sklearn.metrics import f1_score
from torch.utils.data import DataLoader, TensorDataset

labels = torch.tensor([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0])
answers = torch.tensor([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 1])
loader = DataLoader(TensorDataset(answers, labels), batch_size=2)

scores = []
for prediction, label in loader:
    scores.append(f1_score(label.numpy(), prediction.numpy(), zero_division=0))  # trap: score-averaged-over-batches
f1 = sum(scores) / len(scores)
result = {"f1": float(f1)}
