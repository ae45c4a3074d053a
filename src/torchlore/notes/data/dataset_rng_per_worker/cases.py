import random

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Cropped(Dataset):
    def __init__(self, pictures, seed):
        self.pictures = pictures
        self.random = random.Random(seed)  # trap: dataset-rng-per-worker

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, index):
        return self.pictures[index] + self.random.random()


class Masked(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.generator = np.random.RandomState(1)  # trap: dataset-rng-per-worker

    def __getitem__(self, index):
        return self.rows[index] * self.generator.rand()


class Subsampled(Dataset):
    def __init__(self, rows):
        self.rng = np.random.default_rng(0)
        self.kept = self.rng.permutation(len(rows))[:10]

    def __getitem__(self, index):
        return self.kept[index]


class Plain(Dataset):
    def __getitem__(self, index):
        return np.random.rand(), random.random(), torch.rand(1)


class Lazy(Dataset):
    def __init__(self):
        self.rng = None

    def __getitem__(self, index):
        if self.rng is None:
            self.rng = np.random.default_rng(torch.initial_seed())
        return self.rng.random()


loader = DataLoader(Cropped([], 0), num_workers=4, shuffle=True)


class Jitter:
    def __init__(self, width):
        self.width = width
        self.draws = np.random.default_rng(1)  # trap: dataset-rng-per-worker

    def __call__(self, row):
        return row + self.width * self.draws.standard_normal(row.shape)


class Stretch:
    def __init__(self, width):
        self.width = width

    def __call__(self, row):
        return row * (1 + self.width * np.random.standard_normal())


class Signals(Dataset):
    def __init__(self, rows, change):
        self.rows, self.change = rows, change

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return torch.from_numpy(self.change(self.rows[index]))


def read(rows):
    return DataLoader(Signals(rows, Jitter(0.1)), 8, num_workers=2), DataLoader(Signals(rows, Stretch(0.1)), 8, num_workers=2)
