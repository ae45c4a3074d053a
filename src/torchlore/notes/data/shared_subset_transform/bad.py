import torch
from torch.utils.data import Dataset, random_split


class Pictures(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __len__(self):
        return 20

    def __getitem__(self, index):
        return self.transform(torch.ones(3))


data = Pictures(transform=lambda picture: picture * 10)
train_set, val_set = random_split(data, [16, 4])
val_set.dataset.transform = lambda picture: picture  # trap: shared-subset-transform
result = {"train": train_set[0].max().item(), "val": val_set[0].max().item()}
