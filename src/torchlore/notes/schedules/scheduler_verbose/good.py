import torch
from torch import nn
from torch.optim.lr_scheduler import ReduceLROnPlateau

model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
error = ""
try:
    scheduler = ReduceLROnPlateau(optimizer, mode="max", patience=5)
except TypeError as caught:
    error = type(caught).__name__

result = {"error": error}
