import torch
from torch import nn
from torch.optim.lr_scheduler import LinearLR, StepLR

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
warmup = LinearLR(optimizer, start_factor=0.1, total_iters=9)
scheduler = StepLR(optimizer, step_size=30, gamma=0.1)  # trap: schedulers-not-chained
x, y = torch.randn(16, 4), torch.randn(16, 1)
rates = []
for epoch in range(3):
    rates.append(round(optimizer.param_groups[0]["lr"], 6))
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
    scheduler.step()

result = {"rates": rates}
