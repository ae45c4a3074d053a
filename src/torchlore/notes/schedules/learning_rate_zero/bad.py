import torch
from torch import nn

x, y = torch.randn(64, 4), torch.randn(64, 1)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: step // 100)  # trap: learning-rate-zero
before = model.weight.detach().clone()

for _ in range(50):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    warmup.step()

result = {"moved": (model.weight - before).abs().max().item()}
