import warnings

import torch
from torch import nn

model = nn.Linear(4, 4)
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    with torch.cpu.amp.autocast(dtype=torch.bfloat16):  # trap: deprecated-amp
        out = model(torch.rand(2, 4))

result = {"dtype": str(out.dtype), "warned": any("deprecated" in str(one.message) for one in seen)}
