import torch
from torch import nn

from torchlore.recipes.optim import decay_groups

model = nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8), nn.ReLU(), nn.Linear(8, 2))
named = list(model.named_parameters())
optimizer = torch.optim.AdamW(decay_groups(model, weight_decay=0.05), lr=1e-3)

held = {id(p) for group in optimizer.param_groups if group["weight_decay"] > 0 for p in group["params"]}
result = {"spared": sorted(name for name, p in named if id(p) not in held)}
