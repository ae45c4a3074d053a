import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
model = nn.Linear(3, 3)
nn.init.eye_(model.weight)
nn.init.zeros_(model.bias)
inputs = torch.randn(256, 3)
loader = DataLoader(TensorDataset(inputs, inputs.argmax(1)), batch_size=32)
model.eval()
correct = 0
with torch.no_grad():
    for x, y in loader:
        _, predicted = torch.max(model(x), 1)
        correct += (predicted == y).sum().item()
result = {"accuracy": correct / len(inputs)}
