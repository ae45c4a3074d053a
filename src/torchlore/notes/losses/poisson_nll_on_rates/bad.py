import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
net = nn.Linear(4, 1)
loss_fn = nn.PoissonNLLLoss()  # trap: poisson-nll-on-rates
optimizer = torch.optim.Adam(net.parameters(), lr=0.3)
inputs = torch.randn(256, 4)
counts = torch.poisson(torch.full((256, 1), 12.0))
for _ in range(150):
    rate = F.softplus(net(inputs))
    loss = loss_fn(rate, counts)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

result = {"predicted": rate.mean().item(), "mean": counts.mean().item()}
