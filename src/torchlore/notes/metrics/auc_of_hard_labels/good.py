import torch
from sklearn.metrics import roc_auc_score

torch.manual_seed(0)
labels = (torch.rand(2000) < 0.05).long()
logits = torch.randn(2000) + 2 * labels - 2
scores = logits.sigmoid()
result = {"auc": float(roc_auc_score(labels.numpy(), scores.numpy()))}
