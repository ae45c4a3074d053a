import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        for block in self.blocks:
            out = torch.tanh(block(x))  # trap: one-layer-for-all-turns
        return self.head(out)


torch.manual_seed(0)
net = Net()
net(torch.randn(8, 4)).sum().backward()

result = {"trained": sum(block.weight.grad is not None for block in net.blocks)}
