import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(64, 4)
y = model(x).detach() + 0.001
max_norm = 1.0
for _ in range(5):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    norm = torch.cat([p.grad.flatten() for p in model.parameters()]).norm()
    factor = (max_norm / (norm + 1e-6)).clamp(max=1.0)
    for p in model.parameters():
        p.grad.mul_(factor)
    applied = torch.cat([p.grad.flatten() for p in model.parameters()]).norm()
    optimizer.step()

result = {"norm": applied.item()}
