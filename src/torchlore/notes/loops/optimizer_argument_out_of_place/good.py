import torch
from torch import nn

weight_decay = 5e-4
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), 0.1, weight_decay=weight_decay)
result = {name: optimizer.param_groups[0][name] for name in ("momentum", "weight_decay")}
