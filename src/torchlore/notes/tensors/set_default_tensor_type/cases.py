"""Other spellings of set-default-tensor-type, and code that only looks like it."""
import torch
from torch import set_default_tensor_type

torch.set_default_tensor_type("torch.cuda.FloatTensor")  # trap: set-default-tensor-type
set_default_tensor_type(torch.DoubleTensor)  # trap: set-default-tensor-type
torch.set_default_tensor_type(torch.cuda.HalfTensor)  # trap: set-default-tensor-type

# clean
torch.set_default_dtype(torch.float32)
torch.set_default_device("cpu")
with torch.device("cpu"):
    x = torch.zeros(1)
