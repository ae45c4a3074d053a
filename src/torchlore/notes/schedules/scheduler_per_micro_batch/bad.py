import torch
from torch import nn

torch.manual_seed(0)
batches = [(torch.randn(4, 2), torch.randn(4, 1)) for _ in range(16)]
model = nn.Linear(2, 1)
accum = 2
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
total = len(batches) // accum
scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, total_iters=total)
rates = []
for i, (x, y) in enumerate(batches):
    loss = nn.functional.mse_loss(model(x), y) / accum
    loss.backward()
    if (i + 1) % accum == 0:
        optimizer.step()
        optimizer.zero_grad()
    scheduler.step()  # trap: scheduler-per-micro-batch
    rates.append(optimizer.param_groups[0]["lr"])
result = {"rate": rates[8]}
