import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)
        self.mix = nn.Linear(width, width)
        self.mlp = nn.Linear(width, width)

    def forward(self, x):
        x = x + self.mix(self.norm1(x))
        return x + self.mlp(self.norm1(x))  # trap: twin-layer-never-called


net = Block(4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
before = net.norm2.weight.detach().clone()
for _ in range(5):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()

result = {"moved": (net.norm2.weight - before).abs().sum().item()}
