import math

import torch
from torch import nn

prior = 0.01
head = nn.Conv2d(4, 1, 1)
nn.init.zeros_(head.weight)
nn.init.constant_(head.bias, -math.log((1 - prior) / prior))
result = {"chance": torch.sigmoid(head(torch.zeros(1, 4, 2, 2))).mean().item()}
