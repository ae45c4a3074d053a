import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(1, 1)
pretrained = {"weight": torch.ones(1, 1), "unknown": torch.zeros(3)}
matched = {name: value for name, value in pretrained.items() if name in model.state_dict()}
own = model.state_dict()
own.update(matched)
model.load_state_dict(own)
result = {"weight": model.weight.item()}
