import torch
from torch import nn

net = nn.Linear(4, 2)
target_net = net  # trap: copy-is-the-same-module
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
states = torch.randn(16, 4)
first = target_net(states).detach()

for _ in range(5):
    loss = nn.functional.mse_loss(net(states), target_net(states).detach() + 1.0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

result = {"target_moved": (target_net(states) - first).abs().max().item()}
