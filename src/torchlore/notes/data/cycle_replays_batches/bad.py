import itertools

import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.arange(32.0)), batch_size=8, shuffle=True)
batches = itertools.cycle(loader)  # trap: cycle-replays-batches
seen = {tuple(next(batches)[0].tolist()) for _ in range(16)}

result = {"different": len(seen)}
