import copy

import torch
from torch import nn

x = 5 * torch.randn(256, 4) + 20
y = x.sum(1, keepdim=True) - 80
model = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 1))
ema = copy.deepcopy(model).eval()
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)

for _ in range(60):
    for part in torch.randperm(256).split(64):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x[part]), y[part]).backward()
        optimizer.step()
        with torch.no_grad():
            for mean, value in zip(ema.parameters(), model.parameters(), strict=True):  # trap: ema-without-buffers
                mean.lerp_(value, 0.1)
    with torch.no_grad():
        error = nn.functional.mse_loss(ema(x), y).item()  # trap: batchnorm-without-statistics

result = {"tracked": ema[1].num_batches_tracked.item(), "error": error}
