import sqlite3
import zipfile

import h5py
import torch
from torch.utils.data import Dataset, IterableDataset


class Frames(Dataset):
    def __init__(self, path):
        self.file = h5py.File(path, "r")  # trap: handle-opened-before-fork

    def __getitem__(self, index):
        return torch.from_numpy(self.file["x"][index])


class Lines(IterableDataset):
    def __init__(self, path):
        self.lines = open(path)  # trap: handle-opened-before-fork

    def __iter__(self):
        yield from self.lines


class Zipped(Dataset):
    def __init__(self, path):
        self.archive = zipfile.ZipFile(path)  # trap: handle-opened-before-fork

    def __getitem__(self, index):
        return self.archive.read(str(index))


class Loaded(Dataset):
    def __init__(self, path):
        with h5py.File(path, "r") as file:
            self.rows = file["x"][:]

    def __getitem__(self, index):
        return self.rows[index]


class Counted(Dataset):
    def __init__(self, path):
        self.file = h5py.File(path, "r")
        self.length = len(self.file["x"])
        self.file.close()

    def __getitem__(self, index):
        return self.file, index


class Packed(Dataset):
    def __init__(self, path):
        self.path, self.file = path, None

    def __getitem__(self, index):
        if self.file is None:
            self.file = h5py.File(self.path, "r")
        return self.file["x"][index]


class Rows(Dataset):
    def __init__(self, path):
        self.path, self.file = path, None
        self.base = self._connect()  # trap: handle-opened-before-fork
        self._open()

    def _connect(self):
        return sqlite3.connect(self.path)

    def _open(self):
        self.file = h5py.File(self.path, "r")  # trap: handle-opened-before-fork

    def __getitem__(self, index):
        return self.base.execute("select x from rows"), self.file["x"][index]


class Measured(Dataset):
    def __init__(self, path):
        self.path = path
        self._open()
        self.length = len(self.file["x"])
        self.file = None

    def _open(self):
        self.file = h5py.File(self.path, "r")

    def __getitem__(self, index):
        if self.file is None:
            self._open()
        return self.file["x"][index]


class Cropped(Measured, Dataset):
    def _open(self):
        self.file = h5py.File(self.path, "r")

    def __getitem__(self, index):
        return super().__getitem__(index)[:16]
