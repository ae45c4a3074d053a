import warnings

import torch
from torch import nn

layer = nn.Linear(4, 4, bias=False)
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    nn.init.constant(layer.weight, 0.5)  # trap: renamed-torch-function
    held = torch.cuda.memory_cached()  # trap: renamed-torch-function

result = {"filled": layer.weight.sum().item(), "held": held, "warnings": len(seen)}
