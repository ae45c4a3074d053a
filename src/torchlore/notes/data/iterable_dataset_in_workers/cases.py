import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset


class Lines(IterableDataset):
    def __init__(self, path):
        self.path = path

    def __iter__(self):  # trap: iterable-dataset-in-workers
        with open(self.path) as file:
            yield from file


class Seeded(IterableDataset):
    def __iter__(self):  # trap: iterable-dataset-in-workers
        generator = torch.Generator().manual_seed(0)
        for _ in range(10):
            yield torch.randn(4, generator=generator)


class Endless(IterableDataset):
    def __iter__(self):
        while True:
            yield torch.randn(4)


class Shared(IterableDataset):
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        yield from self.items[info.id :: info.num_workers] if info else self.items


class Wrapped(IterableDataset):
    def __init__(self, dataset):
        self.dataset = dataset

    def __iter__(self):
        yield from self.dataset


class Mapped(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return index


def split(worker_id):
    torch.utils.data.get_worker_info().dataset.items = []


WORKERS = 2


def loaders(path, items, data, n):
    a = DataLoader(Lines(path), batch_size=4, num_workers=4)
    stream = Seeded()
    b = DataLoader(stream, num_workers=WORKERS)
    c = DataLoader(dataset=Lines(path), num_workers=8, batch_size=None)
    d = DataLoader(Endless(), num_workers=2)
    e = DataLoader(Shared(items), num_workers=2)
    f = DataLoader(Wrapped(data), num_workers=2)
    g = DataLoader(Mapped(), num_workers=2, shuffle=True)
    h = DataLoader(Lines(path), batch_size=4)
    i = DataLoader(Lines(path), num_workers=n)
    j = DataLoader(Lines(path), num_workers=2, worker_init_fn=split)
    return a, b, c, d, e, f, g, h, i, j
