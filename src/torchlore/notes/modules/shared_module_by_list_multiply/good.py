import torch
from torch import nn


class Stack(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return x


model = Stack(8, 4)
model(torch.randn(2, 8))
count = sum(p.numel() for p in model.parameters())
result = {"parameters": count, "distinct_layers": len({id(layer) for layer in model.layers})}
