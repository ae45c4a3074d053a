import torch
from torch import nn

x, y = torch.randn(1000, 8), torch.randn(1000, 1)
net = nn.Linear(8, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
batch_size = 32
seen = torch.zeros(len(x), dtype=torch.bool)

for _ in range(2):
    for i in range(len(x) // batch_size):
        inputs, targets = x[i * batch_size : (i + 1) * batch_size], y[i * batch_size : (i + 1) * batch_size]
        opt.zero_grad()
        nn.functional.mse_loss(net(inputs), targets).backward()
        opt.step()
        seen |= (x[:, None] == inputs[None]).all(-1).any(1)

result = {"seen": int(seen.sum())}
