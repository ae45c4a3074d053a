import torch
from torch.utils.data import DataLoader, SubsetRandomSampler, TensorDataset

data = TensorDataset(torch.randn(100, 4), torch.randint(0, 3, (100,)))
order = torch.randperm(100).tolist()
valid_loader = DataLoader(data, batch_size=10, sampler=SubsetRandomSampler(order[:20]))

correct = 0
for inputs, labels in valid_loader:
    prediction = labels.clone()  # a perfect model
    correct += (prediction == labels).sum().item()

accuracy = correct / len(valid_loader.dataset)  # trap: length-of-dataset-under-sampler
result = {"accuracy": accuracy}
