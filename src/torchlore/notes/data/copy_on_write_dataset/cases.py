import json

import torch
from torch.utils.data import DataLoader, Dataset


class Records(Dataset):
    def __init__(self, path):
        with open(path) as file:
            self.records = json.load(file)  # trap: copy-on-write-dataset
        self.names = ["cat", "dog"]
        self.table = torch.zeros(3)

    def __len__(self):
        return len(self.records)

    def __getitem__(self, index):
        return self.records[index], self.names[0], self.table[0]


class Lines(Dataset):
    def __init__(self, path):
        with open(path) as file:
            self.lines = [line.strip() for line in file]  # trap: copy-on-write-dataset
        self.header = open(path).readlines()

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, index):
        return self.lines[index]


class Rows(Dataset):
    def __init__(self, frame):
        self.rows = frame.to_dict("records")  # trap: copy-on-write-dataset

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]


class Small(Dataset):
    def __init__(self, items, count):
        self.items = items
        self.numbers = [i * 2 for i in range(count)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index], self.numbers[index]


class Reader:
    def __init__(self, path):
        self.records = json.load(open(path))

    def __getitem__(self, index):
        return self.records[index]


loader = DataLoader(Records("a.json"), num_workers=4)
