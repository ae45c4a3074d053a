import torch
from torch import nn

model = nn.Linear(4, 2)
model = nn.DataParallel(model)  # trap: data-parallel
try:
    in_features = model.in_features
except AttributeError as error:
    in_features = type(error).__name__

model.eval()
with torch.no_grad():
    out = model(torch.ones(3, 4, device=next(model.parameters()).device))
result = {"keys": list(model.state_dict()), "in_features": in_features, "sum": out.sum().item()}
