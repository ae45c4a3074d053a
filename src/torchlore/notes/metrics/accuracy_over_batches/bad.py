import torch
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(100, 4), torch.randint(0, 3, (100,)))
test_loader = DataLoader(data, batch_size=10)

correct = 0
for inputs, labels in test_loader:
    prediction = labels.clone()  # a perfect model
    correct += (prediction == labels).sum().item()

accuracy = correct / len(test_loader)  # trap: accuracy-over-batches
result = {"accuracy": accuracy}
