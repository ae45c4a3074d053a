import torch
from torch import nn

state = nn.Linear(4, 2).state_dict()
model = nn.Linear(4, 2)
model = model.load_state_dict(state)  # trap: load-state-dict-assigned

x = torch.ones(1, 4)
result = {"kind": type(model).__name__}
