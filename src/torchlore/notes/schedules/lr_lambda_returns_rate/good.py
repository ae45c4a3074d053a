import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

lr = 1e-2
model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=lr)
scheduler = LambdaLR(optimizer, lr_lambda=lambda epoch: 0.95**epoch)
x, y = torch.randn(64, 8), torch.randn(64, 1)
first_rate = optimizer.param_groups[0]["lr"]

for _ in range(5):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    scheduler.step()

result = {"first_rate": first_rate}
