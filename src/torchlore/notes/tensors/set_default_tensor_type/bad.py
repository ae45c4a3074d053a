import warnings

import torch

with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    torch.set_default_tensor_type(torch.DoubleTensor)  # trap: set-default-tensor-type
weights = torch.zeros(3)

result = {"dtype": str(weights.dtype), "warnings": [str(one.message) for one in seen]}
