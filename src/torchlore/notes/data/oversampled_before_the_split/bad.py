import torch
from sklearn.model_selection import train_test_split
from sklearn.utils import resample

rows = torch.arange(200)
labels = (rows % 10 == 0).long()
more = resample(rows[labels == 1].numpy(), n_samples=180, random_state=0)
rows = torch.cat((rows[labels == 0], torch.as_tensor(more)))
train, test = train_test_split(rows.numpy(), test_size=0.3, random_state=0)  # trap: oversampled-before-the-split
rare = [row for row in test if row % 10 == 0]
result = {"trained_on": sum(row in set(train) for row in rare) / len(rare)}
