import itertools

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.arange(64.0).unsqueeze(1))
loader = DataLoader(data, batch_size=8)
model = nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)

seen = set()
batches = itertools.chain.from_iterable(itertools.repeat(loader))
for _ in range(24):
    (x,) = next(batches)
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), x).backward()
    optimizer.step()
    seen.update(x.flatten().tolist())

result = {"samples_seen": len(seen)}
