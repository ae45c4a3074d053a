import torch
from torch import nn

x = torch.randn(400, 4)
y = (x[:, 0] + 0.5 * torch.randn(400) > 0).float()
model = nn.Linear(4, 1)
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(30):
    optimizer.zero_grad()
    criterion(model(x).squeeze(1), y).backward()
    optimizer.step()

with torch.no_grad():
    logits = model(x).squeeze(1)
predicted = (logits > 0.5).float()  # trap: logit-threshold-half

accuracy = (predicted == y).float().mean().item()
result = {"accuracy": accuracy, "recall": (predicted * y).sum().item() / y.sum().item()}
