import torch
from torch.utils.data import DataLoader, TensorDataset, random_split

data = TensorDataset(torch.arange(100).float().unsqueeze(1))
train_set, val_set = random_split(data, [80, 20])
train_loader = DataLoader(train_set, batch_size=16, shuffle=True)

seen = {int(v) for (batch,) in train_loader for v in batch}
result = {"samples": len(seen), "seen_of_validation": len(seen & set(val_set.indices))}
