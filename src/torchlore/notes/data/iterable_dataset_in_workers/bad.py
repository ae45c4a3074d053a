import torch
from torch.utils.data import DataLoader, IterableDataset


class Records(IterableDataset):
    def __init__(self, count):
        super().__init__()
        self.count = count

    def __iter__(self):  # trap: iterable-dataset-in-workers
        for i in range(self.count):
            yield torch.tensor(float(i))


if __name__ == "__main__":
    loader = DataLoader(Records(40), batch_size=5, num_workers=2)
    seen = [value for batch in loader for value in batch.tolist()]
    result = {"samples": len(seen), "different": len(set(seen))}
