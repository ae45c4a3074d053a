from collections.abc import Iterator

import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Records(IterableDataset):
    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count

    def __iter__(self) -> Iterator[torch.Tensor]:
        worker = get_worker_info()
        first, step = (worker.id, worker.num_workers) if worker else (0, 1)
        for i in range(first, self.count, step):
            yield torch.tensor(float(i))


if __name__ == "__main__":
    loader = DataLoader(Records(40), batch_size=5, num_workers=2)
    seen = [value for batch in loader for value in batch.tolist()]
    result = {"samples": len(seen), "different": len(set(seen))}
