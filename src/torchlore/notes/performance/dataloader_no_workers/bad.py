import time

from torch.utils.data import DataLoader, Dataset


class Slow(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        time.sleep(0.01)  # reading from a disk
        return index


start = time.perf_counter()
loader = DataLoader(Slow(), batch_size=8)  # trap: dataloader-no-workers
samples = sum(len(batch) for batch in loader)

result = {"samples": samples, "seconds": time.perf_counter() - start}
