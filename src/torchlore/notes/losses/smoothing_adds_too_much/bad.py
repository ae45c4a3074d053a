import torch
from torch.nn import functional as F

smoothing = 0.1
one_hot = F.one_hot(torch.tensor([0, 2]), 5).float()
target = one_hot * (1 - smoothing) + smoothing  # trap: smoothing-adds-too-much
result = {"mass": target.sum(1).mean().item()}
