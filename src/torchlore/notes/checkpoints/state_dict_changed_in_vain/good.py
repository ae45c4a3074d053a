import io

import torch
from torch import nn

torch.manual_seed(0)
file = io.BytesIO()
torch.save({"0.weight": torch.ones(1, 1), "0.bias": torch.zeros(1), "1.bias": torch.zeros(3)}, file)
file.seek(0)

model = nn.Sequential(nn.Linear(1, 1))
pretrained = torch.load(file, map_location="cpu")
matched = {name: value for name, value in pretrained.items() if name in model.state_dict()}
own = model.state_dict()
own.update(matched)
model.load_state_dict(own)
result = {"weight": model(torch.ones(1, 1)).item()}
