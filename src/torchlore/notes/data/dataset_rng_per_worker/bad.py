import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __init__(self, size):
        self.size = size
        self.rng = np.random.default_rng(0)  # trap: dataset-rng-per-worker

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        return torch.tensor(self.rng.random())


loader = DataLoader(Noisy(64), batch_size=8, num_workers=2, shuffle=True)
seen = torch.cat(list(loader))

result = {"samples": len(seen), "different": len(seen.unique())}
