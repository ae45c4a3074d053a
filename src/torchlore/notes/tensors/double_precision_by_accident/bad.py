import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(0)
x = torch.from_numpy(rng.normal(size=(64, 10)))
y = torch.from_numpy(rng.normal(size=(64, 1)))

model = nn.Linear(10, 1).double()  # trap: double-precision-by-accident
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(20):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

held = [*model.parameters(), *(v for s in optimizer.state.values() for k, v in s.items() if k != "step"), x, y]
result = {"loss": loss.item(), "bytes": sum(t.numel() * t.element_size() for t in held)}
