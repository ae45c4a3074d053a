import torch
from torch import nn

from torchlore.recipes.tensors import shuffle_together

y = torch.arange(256) % 2
x = torch.randn(256, 2) + 4.0 * y[:, None]

x, y = shuffle_together(x, y)

model = nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(100):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

pairs = ((x.sum(1) > 4).long() == y).float().mean().item()
result = {"pairs_kept": round(pairs, 1), "loss": loss.item()}
