import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self):
        self.data = torch.rand(64, 8) + 1.0
        self.mean = 0.5

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        x = self.data[index]
        return x - self.mean


loader = DataLoader(Rows(), batch_size=16)
means = [torch.cat(list(loader)).mean().item() for _ in range(3)]

result = {"means": means}
