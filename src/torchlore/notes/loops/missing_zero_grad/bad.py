import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 4), torch.randn(64, 1)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)
norms = []

for _ in range(20):
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    norms.append(model.weight.grad.norm().item())
    optimizer.step()  # trap: missing-zero-grad

result = {"first": norms[0], "gradient": norms[-1]}
