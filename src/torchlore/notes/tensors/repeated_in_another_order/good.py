import torch
from torch import nn


class Samples(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.k = k

    def forward(self, x):
        mean = x.repeat_interleave(self.k, dim=0)
        target = x.repeat_interleave(self.k, dim=0)
        return nn.functional.mse_loss(mean, target)


torch.manual_seed(0)
result = {"error": Samples(5)(torch.randn(8, 3)).item()}
