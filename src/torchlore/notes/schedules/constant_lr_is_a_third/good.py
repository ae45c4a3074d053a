import torch
from torch import nn
from torch.optim.lr_scheduler import ConstantLR

net = nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.3)
schedule = ConstantLR(optimizer, factor=1.0)
first_rate = optimizer.param_groups[0]["lr"]
for _ in range(3):
    optimizer.zero_grad()
    net(torch.ones(4, 2)).mean().backward()
    optimizer.step()
    schedule.step()

result = {"first_rate": first_rate}
