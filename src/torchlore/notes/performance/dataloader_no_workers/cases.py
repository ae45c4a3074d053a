"""Other spellings of dataloader-no-workers, and code that only looks like it."""
import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, TensorDataset
from torchvision import datasets


class Photos(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def _read(self, path):
        return np.asarray(Image.open(path).convert("RGB"))

    def __getitem__(self, i):
        return self._read(self.paths[i])


class Rows(Dataset):
    def __init__(self, path):
        self.rows = np.load(path)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def loaders(paths, transform, options):
    a = DataLoader(Photos(paths), 32, shuffle=True)  # trap: dataloader-no-workers
    folder = datasets.ImageFolder("train", transform)
    b = DataLoader(folder, batch_size=32, num_workers=0)  # trap: dataloader-no-workers
    photos = Photos(paths)
    c = torch.utils.data.DataLoader(dataset=photos)  # trap: dataloader-no-workers
    # clean
    d = DataLoader(Photos(paths), 32, num_workers=4)
    e = DataLoader(Photos(paths), **options)
    f = DataLoader(Rows("x.npy"), 32)
    g = DataLoader(TensorDataset(torch.ones(4)), 2)
    h = DataLoader(paths, 2)
    return a, b, c, d, e, f, g, h
