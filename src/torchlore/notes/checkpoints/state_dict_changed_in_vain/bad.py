import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(1, 1)
pretrained = {"weight": torch.ones(1, 1), "unknown": torch.zeros(3)}
matched = {name: value for name, value in pretrained.items() if name in model.state_dict()}
model.state_dict().update(matched)  # trap: state-dict-changed-in-vain
result = {"weight": model.weight.item()}
