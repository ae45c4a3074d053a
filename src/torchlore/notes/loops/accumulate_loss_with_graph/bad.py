import gc

import torch
from torch import nn

x, y = torch.randn(32, 4), torch.randn(32, 1)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

total = 0.0
for _ in range(50):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss  # trap: accumulate-loss-with-graph
del loss

nodes, alive = [getattr(total, "grad_fn", None)], 0
while nodes:
    node = nodes.pop()
    if node is not None:
        alive += "MseLoss" in node.name()
        nodes += [parent for parent, _ in node.next_functions]
gc.collect()

result = {"graphs_alive": alive}
