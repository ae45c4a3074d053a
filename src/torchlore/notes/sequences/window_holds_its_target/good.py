import torch
from torch.utils.data import DataLoader, Dataset


class Windows(Dataset):
    def __init__(self, series, size):
        self.series, self.size = series, size

    def __len__(self):
        return len(self.series) - self.size

    def __getitem__(self, i):
        x = self.series[i : i + self.size]
        y = self.series[i + self.size]
        return x, y


series = torch.randn(100, generator=torch.Generator().manual_seed(0))
pairs = [(x[0, -1], y[0]) for x, y in DataLoader(Windows(series, 8))]
result = {"copied": sum(float(last == goal) for last, goal in pairs) / len(pairs)}
