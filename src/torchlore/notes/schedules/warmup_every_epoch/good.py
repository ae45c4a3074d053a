import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches, warmup = torch.randn(20, 8, 4), 5
for epoch in range(3):
    rates = []
    for i, x in enumerate(batches):
        step = epoch * len(batches) + i
        if step < warmup:
            optimizer.param_groups[0]["lr"] = 0.1 * (step + 1) / warmup
        rates.append(optimizer.param_groups[0]["lr"])
        loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
result = {"lowest_in_the_last_epoch": min(rates)}
