import gc
import os
import tempfile

import torch
from torch.utils.data import DataLoader, Dataset


class Paths(Dataset):
    def __init__(self, listing):
        with open(listing) as file:
            self.paths = file.read().splitlines()  # trap: copy-on-write-dataset

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return torch.tensor(float(len(self.paths[index])))


with tempfile.TemporaryDirectory() as folder:
    listing = os.path.join(folder, "list.txt")
    with open(listing, "w") as file:
        file.write("\n".join(f"images/{i:06}.jpg" for i in range(5000)))
    data = Paths(listing)
loader = DataLoader(data, batch_size=64, num_workers=2)
result = {"objects": len(gc.get_referents(data.paths)), "sample": data[7].item()}
