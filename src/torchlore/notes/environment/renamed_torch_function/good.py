import warnings

import torch
from torch import nn

layer = nn.Linear(4, 4, bias=False)
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    nn.init.constant_(layer.weight, 0.5)
    held = torch.cuda.memory_reserved()

result = {"filled": layer.weight.sum().item(), "held": held, "warnings": len(seen)}
