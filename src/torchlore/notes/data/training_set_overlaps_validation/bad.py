import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

data = TensorDataset(torch.randn(200, 4), torch.randint(0, 2, (200,)))
train_part = torch.randperm(200)[:160].tolist()
val_part = torch.randperm(200)[:40].tolist()
train_loader = DataLoader(Subset(data, train_part), batch_size=16, shuffle=True)
val_loader = DataLoader(Subset(data, val_part), batch_size=16)  # trap: training-set-overlaps-validation
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    for x, y in train_loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    with torch.no_grad():
        right = sum((model(x).argmax(1) == y).sum().item() for x, y in val_loader)

result = {"shared": len(set(train_part) & set(val_part)), "right": right}
