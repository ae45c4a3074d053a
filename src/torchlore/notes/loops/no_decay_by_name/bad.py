import torch
from torch import nn

model = nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8), nn.ReLU(), nn.Linear(8, 2))
no_decay = ["bias", "LayerNorm.weight"]
named = list(model.named_parameters())
decayed = [p for name, p in named if name not in no_decay]  # trap: no-decay-by-name
spared = [p for name, p in named if name in no_decay]  # trap: no-decay-by-name
optimizer = torch.optim.AdamW([{"params": decayed}, {"params": spared, "weight_decay": 0.0}], weight_decay=0.05)

held = {id(p) for group in optimizer.param_groups if group["weight_decay"] > 0 for p in group["params"]}
result = {"spared": sorted(name for name, p in named if id(p) not in held)}
