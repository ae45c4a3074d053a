import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from torchlore.recipes.device import unwrap

model: nn.Module = nn.Linear(4, 2)
if torch.distributed.is_initialized():  # under torchrun: one process for each GPU
    model = DistributedDataParallel(model)
in_features = unwrap(model).in_features

model.eval()
with torch.no_grad():
    out = model(torch.ones(3, 4))
result = {"keys": list(unwrap(model).state_dict()), "in_features": in_features, "sum": out.sum().item()}
