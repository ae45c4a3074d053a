import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
model = nn.Linear(2, 2)
nn.init.eye_(model.weight)
nn.init.zeros_(model.bias)
x_test = torch.randn(256, 2)
y_test = x_test.argmax(1)
test_loader = DataLoader(TensorDataset(x_test, y_test), batch_size=32)
model.eval()
preds = []
with torch.no_grad():
    for x, _ in test_loader:
        preds.append(model(x).argmax(1))
result = {"accuracy": (torch.cat(preds) == y_test).float().mean().item()}
