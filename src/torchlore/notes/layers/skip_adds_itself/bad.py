import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1 = nn.Conv2d(width, width, 3, padding=1)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x):
        x = torch.relu(self.conv1(x))
        x = self.conv2(x)
        x += x  # trap: skip-adds-itself
        return torch.relu(x)


block, x = Block(4), torch.ones(1, 4, 8, 8)
for one in block.conv2.parameters():
    nn.init.zeros_(one)

result = {"comes through": block(x).mean().item()}
