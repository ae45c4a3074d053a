import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

labels = torch.tensor([0, 1, 2, 2, 1, 0, 0, 0, 1])
loader = DataLoader(TensorDataset(torch.eye(3)[labels], labels), batch_size=3)
model = nn.Linear(3, 3)
with torch.no_grad():
    model.weight.copy_(torch.eye(3))
model.eval()
correct = 0
with torch.no_grad():
    for x, y in loader:
        predicted = model(x).argmax(dim=1)
        correct += (predicted == y).sum().item()
result = {"accuracy": correct / len(labels)}
