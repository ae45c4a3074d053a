import torch

labels = torch.arange(12) % 3
values = labels.float()
scores = [[]] * 3  # trap: one-list-many-times
for label, value in zip(labels.tolist(), values.tolist(), strict=True):
    scores[label].append(value)

result = {"means": [sum(one) / len(one) for one in scores]}
