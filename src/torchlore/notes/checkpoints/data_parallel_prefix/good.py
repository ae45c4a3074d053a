import io

import torch
from torch import nn

from torchlore.recipes.device import unwrap

model = nn.DataParallel(nn.Linear(4, 2))
file = io.BytesIO()
torch.save(unwrap(model).state_dict(), file)
file.seek(0)

state = torch.load(file, map_location="cpu", weights_only=True)
bare = nn.Linear(4, 2)
keys = bare.load_state_dict(state, strict=False)
result = {"matched": len(bare.state_dict()) - len(keys.missing_keys)}
