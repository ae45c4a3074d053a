import copy

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(40, 30), torch.randint(0, 2, (40,)).float()
val_x, val_y = torch.randn(200, 30), torch.randint(0, 2, (200,)).float()
model = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 1), nn.Flatten(0))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.BCEWithLogitsLoss()
best, kept, chosen = float("inf"), None, 0

for epoch in range(60):
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    train_loss = loss.item()
    with torch.no_grad():
        val_loss = criterion(model(val_x), val_y).item()
    if train_loss < best:  # trap: best-by-training-score
        best, chosen = train_loss, epoch
        kept = copy.deepcopy(model.state_dict())

model.load_state_dict(kept)
with torch.no_grad():
    result = {"kept": criterion(model(val_x), val_y).item(), "epoch": chosen}
