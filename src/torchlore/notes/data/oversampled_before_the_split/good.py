import torch
from sklearn.model_selection import train_test_split
from sklearn.utils import resample

rows = torch.arange(200)
train, test = train_test_split(rows.numpy(), test_size=0.3, random_state=0, stratify=(rows % 10 == 0).numpy())
more = resample(train[train % 10 == 0], n_samples=126, random_state=0)
train = torch.cat((torch.as_tensor(train[train % 10 != 0]), torch.as_tensor(more))).numpy()
rare = [row for row in test if row % 10 == 0]
result = {"trained_on": sum(row in set(train) for row in rare) / len(rare)}
