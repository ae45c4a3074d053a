"""Other spellings of dataset-changed-in-place, and code that only looks like it."""
import numpy as np
import torch
from torch.utils.data import Dataset


class Images(Dataset):
    def __init__(self, n):
        self.images = np.zeros((n, 8, 8), dtype=np.float32)
        self.labels = torch.zeros(n)
        self.steps = 0

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = self.images[i]
        image[2:4, 2:4] = 0.0  # trap: dataset-changed-in-place
        label = self.labels[i]
        label.add_(1)  # trap: dataset-changed-in-place
        image /= 255.0  # trap: dataset-changed-in-place
        return image, label


# clean
class Careful(Dataset):
    def __init__(self, n, paths):
        self.images = torch.zeros(n, 8, 8)
        self.numbers = [1, 2, 3]
        self.paths = paths

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        a = self.images[i].clone()
        a -= 0.5
        b = self.images[i]
        b = b - 0.5
        b *= 2
        c = self.numbers[i]
        c += 1
        d = self.images[[i, i + 1]]
        d += 1
        return a, b, c, d


def blank(image):
    image[0] = 0
    return image


def scaled(image):
    image = image / 255
    image -= 0.5
    return image


class Handed(Dataset):
    def __init__(self, n):
        self.images = torch.zeros(n, 8, 8)
        self.labels = torch.zeros(n)

    def __len__(self):
        return len(self.images)

    def normalise(self, image):
        image -= 0.5
        return image

    def __getitem__(self, i):
        image, label = self.images[i], self.labels[i]
        image = self.normalise(image)  # trap: dataset-changed-in-place
        other = self.images[i]
        other = blank(other)  # trap: dataset-changed-in-place
        third = self.images[i]
        third = scaled(third)
        return image, label, other, third, blank(self.images[i].clone())


class Drawn(Dataset):
    def __init__(self, n):
        rng = np.random.default_rng(0)
        self.rows = rng.normal(size=(n, 8)).astype(np.float32)

    def __len__(self):
        return len(self.rows)

    def shift(self, row):
        row[0] = row[0] - 1
        return row

    def __getitem__(self, index):
        row = self.rows[index, ...]
        return torch.from_numpy(self.shift(row))  # trap: dataset-changed-in-place
