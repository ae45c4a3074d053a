import gc
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Paths(Dataset):
    def __init__(self, listing: Path) -> None:
        self.paths = np.loadtxt(listing, dtype=np.str_)  # one block, fixed width

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.tensor(float(len(self.paths[index])))


with tempfile.TemporaryDirectory() as folder:
    listing = Path(folder) / "list.txt"
    listing.write_text("\n".join(f"images/{i:06}.jpg" for i in range(5000)))
    data = Paths(listing)
loader = DataLoader(data, batch_size=64, num_workers=2)
result = {"objects": len(gc.get_referents(data.paths)), "sample": data[7].item()}
