import torch
from torch import nn


class Heads(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(size, size)

    def forward(self, x):
        batch, length, size = x.shape
        q = self.project(x).view(batch, length, self.heads, size // self.heads)
        return q.view(batch, self.heads, length, size // self.heads)  # trap: view-as-transpose


split = Heads(8, 2)
x = torch.randn(3, 4, 8)
changed = x.clone()
changed[:, 2] += 1.0  # the third token
with torch.no_grad():
    difference = (split(x) - split(changed))[0, :, 0]  # what the heads hold of the first token

result = {"leak": difference.abs().max().item()}
