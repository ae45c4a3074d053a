import tempfile
import time
from pathlib import Path

import torch
from torch.utils.data import DataLoader, Dataset


class Files(Dataset):
    def __init__(self, folder):
        self.paths = sorted(Path(folder).glob("*.pt"))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        time.sleep(0.01)  # a slow disk
        return torch.load(self.paths[index], map_location="cpu")


with tempfile.TemporaryDirectory() as folder:
    for number in range(64):
        torch.save(torch.tensor(number), f"{folder}/{number:03}.pt")
    start = time.perf_counter()
    loader = DataLoader(Files(folder), batch_size=8)  # trap: dataloader-no-workers
    samples = sum(len(batch) for batch in loader)

result = {"samples": samples, "seconds": time.perf_counter() - start}
