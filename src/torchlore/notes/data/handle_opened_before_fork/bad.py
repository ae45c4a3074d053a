import pickle
import sqlite3
import tempfile

import torch
from torch.utils.data import DataLoader, Dataset

path = tempfile.mkstemp(suffix=".db")[1]
with sqlite3.connect(path) as writer:
    writer.execute("create table rows (id integer, value real)")
    writer.executemany("insert into rows values (?, ?)", [(i, float(i)) for i in range(32)])


class Rows(Dataset):
    def __init__(self, path):
        self.path = path
        self.database = sqlite3.connect(path)  # trap: handle-opened-before-fork

    def __len__(self):
        return 32

    def __getitem__(self, index):
        return torch.tensor(self.database.execute("select value from rows where id = ?", (index,)).fetchone()[0])


dataset = Rows(path)
total = sum(batch.sum().item() for batch in DataLoader(dataset, batch_size=8, num_workers=1))
try:
    pickle.dumps(dataset)
    can_be_sent = True
except TypeError:
    can_be_sent = False
result = {"sum": total, "can_be_sent": can_be_sent}
