import torch
from torch import nn

norm = nn.BatchNorm1d(8, eps=1e-3, momentum=0.01)
for _ in range(1500):
    norm(torch.randn(16, 8) + 5)

result = {"error": (norm.running_mean - 5).abs().mean().item()}
