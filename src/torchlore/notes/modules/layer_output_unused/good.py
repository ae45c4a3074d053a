import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.second = nn.Linear(8, 8)
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        x = torch.relu(self.first(x))
        hidden = self.second(x)
        return self.head(torch.relu(hidden))


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
before = net.second.weight.detach().clone()
for _ in range(5):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()

result = {"moved": (net.second.weight - before).abs().sum().item()}
