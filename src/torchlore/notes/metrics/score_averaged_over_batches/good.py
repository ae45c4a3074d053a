import torch
from sklearn.metrics import f1_score
from torch.utils.data import DataLoader, TensorDataset

labels = torch.tensor([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0])
answers = torch.tensor([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 1])
loader = DataLoader(TensorDataset(answers, labels), batch_size=2)

truth, predicted = [], []
for prediction, label in loader:
    truth.append(label)
    predicted.append(prediction)
f1 = f1_score(torch.cat(truth).numpy(), torch.cat(predicted).numpy(), zero_division=0)
result = {"f1": float(f1)}
