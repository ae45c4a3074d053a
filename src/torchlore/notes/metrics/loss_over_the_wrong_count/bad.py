import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.zeros(100, 1), torch.full((100, 1), 2.0)), batch_size=10)
criterion = nn.L1Loss()
model = nn.Identity()

total = 0.0
model.eval()
with torch.no_grad():
    for x, y in loader:
        loss = criterion(model(x), y)
        total += loss.item()
mean = total / len(loader.dataset)  # trap: loss-over-the-wrong-count
result = {"mean": mean}
