"""Other spellings of classes-in-the-order-of-a-listing, and code that only looks like it."""
import glob
import os

import torch
from torch.utils.data import Dataset


class Folder(Dataset):
    def __init__(self, root):
        self.names = os.listdir(root)  # trap: classes-in-the-order-of-a-listing
        self.number = {name: i for i, name in enumerate(self.names)}
        self.files, self.targets = [], []
        for label, folder in enumerate(os.listdir(root)):  # trap: classes-in-the-order-of-a-listing
            for file in os.listdir(os.path.join(root, folder)):
                self.files.append(os.path.join(root, folder, file))
                self.targets.append(label)

    def __getitem__(self, i):
        return torch.tensor(len(self.files[i])), self.targets[i]


class Csi(Dataset):
    def __init__(self, root):
        self.folder = glob.glob(root + "/*/")  # trap: classes-in-the-order-of-a-listing
        self.category = {self.folder[i].split("/")[-2]: i for i in range(len(self.folder))}


def numbered(root):
    kinds = [one.name for one in root.iterdir() if one.is_dir()]  # trap: classes-in-the-order-of-a-listing
    return {kind: number for number, kind in enumerate(kinds)}


class Sorted(Dataset):
    def __init__(self, root):
        self.names = sorted(os.listdir(root))
        self.number = {name: i for i, name in enumerate(self.names)}
        kinds = os.listdir(root)
        kinds.sort()
        self.kinds = {name: i for i, name in enumerate(kinds)}
        for i, file in enumerate(os.listdir(root)):
            print(i, file)
        self.files = os.listdir(root)
        self.count = len(self.files)


def latest(root):
    files = [int(one.split("_")[1]) for one in os.listdir(root)]
    return max(files)


class Table(Dataset):
    def __init__(self, rows, path, net):
        self.rows = rows
        self.class_to_idx = {c: i for i, c in enumerate(set(row[1] for row in rows))}  # trap: classes-in-the-order-of-a-listing
        self.label_ids = {c: i for i, c in enumerate(sorted(set(row[1] for row in rows)))}
        self.tag_ids = {c: i for i, c in enumerate(set(row[2] for row in rows))}
        torch.save({"net": net.state_dict(), "tags": self.tag_ids}, path)
