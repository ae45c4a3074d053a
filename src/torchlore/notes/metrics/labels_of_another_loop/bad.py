import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 2)
nn.init.eye_(model.weight)
nn.init.zeros_(model.bias)
x = torch.randn(64, 2)
y = x.argmax(1)
train_batches = [(x[i : i + 8], y[i : i + 8]) for i in range(0, 32, 8)]
val_batches = [(x[i : i + 8], y[i : i + 8]) for i in range(32, 64, 8)]
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for inputs, labels in train_batches:
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(inputs), labels).backward()
    optimizer.step()
correct = 0
with torch.no_grad():
    for inputs_val, labels_val in val_batches:
        correct += (model(inputs_val).argmax(1) == labels).sum().item()  # trap: labels-of-another-loop
result = {"accuracy": correct / 32}
