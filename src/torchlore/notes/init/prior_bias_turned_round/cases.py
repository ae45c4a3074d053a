"""Other spellings of prior-bias-turned-round, and code that only looks like it."""
import math

import numpy as np
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, prior=0.01):
        super().__init__()
        self.score, self.other, self.third = nn.Conv2d(8, 1, 1), nn.Conv2d(8, 1, 1), nn.Conv2d(8, 1, 1)
        bias = np.log((1 - prior) / prior)
        self.score.bias.data.fill_(bias)  # trap: prior-bias-turned-round
        right = -np.log((1 - prior) / prior)
        nn.init.constant_(self.other.bias, right)
        torch.nn.init.constant_(self.third.bias, math.log(prior / (1 - prior)))
        self.other.bias.data.fill_(-math.log((1.0 - prior) / prior))

    def common(self, keep=0.9):
        nn.init.constant_(self.third.bias, math.log((1 - 0.9) / 0.9))
        return math.log((1 - keep) / keep)
