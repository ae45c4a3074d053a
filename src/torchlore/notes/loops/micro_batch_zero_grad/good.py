import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn(256, 4), torch.randn(256, 1)), batch_size=16)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
k, window, errors = 4, [], []

for i, (x, y) in enumerate(loader):
    loss = nn.functional.mse_loss(model(x), y) / k
    loss.backward()
    window.append((x, y))
    if (i + 1) % k == 0:
        xs, ys = (torch.cat(parts) for parts in zip(*window, strict=True))
        (whole,) = torch.autograd.grad(nn.functional.mse_loss(model(xs), ys), [model.weight])
        errors.append(((model.weight.grad - whole).norm() / whole.norm()).item())
        window = []
        optimizer.step()
        optimizer.zero_grad()

result = {"error": max(errors)}
