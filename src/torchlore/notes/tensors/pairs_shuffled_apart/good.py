import torch
from torch import nn

y = torch.arange(256) % 2
x = torch.randn(256, 2) + 4.0 * y[:, None]

order = torch.randperm(len(x))
x, y = x[order], y[order]

model = nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(100):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

pairs = ((x.sum(1) > 4).long() == y).float().mean().item()
result = {"pairs_kept": round(pairs, 1), "loss": loss.item()}
