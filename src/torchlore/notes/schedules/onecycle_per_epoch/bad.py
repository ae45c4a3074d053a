import torch
from torch import nn
from torch.optim.lr_scheduler import OneCycleLR
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn(160, 4), torch.randn(160, 1)), batch_size=8, shuffle=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
scheduler = OneCycleLR(optimizer, max_lr=1.0, epochs=3, steps_per_epoch=len(loader), cycle_momentum=False)

rates = []
for epoch in range(3):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        rates.append(optimizer.param_groups[0]["lr"])
    scheduler.step()  # trap: onecycle-per-epoch

result = {"highest": max(rates)}
