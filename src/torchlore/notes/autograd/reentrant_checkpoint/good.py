import warnings

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

warnings.filterwarnings("ignore")
stem = nn.Linear(4, 8).requires_grad_(False)  # pretrained and frozen
block = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
head = nn.Linear(8, 1)

x = stem(torch.randn(16, 4))
x = checkpoint(block, x, use_reentrant=False)
head(x).mean().backward()

result = {"block_learns": block[0].weight.grad is not None}
