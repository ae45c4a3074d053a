from collections.abc import Callable

import torch
from torch.utils.data import Dataset, Subset


class Pictures(Dataset):
    def __init__(self, transform: Callable[[torch.Tensor], torch.Tensor]) -> None:
        self.transform = transform

    def __len__(self) -> int:
        return 20

    def __getitem__(self, index: int) -> torch.Tensor:
        return self.transform(torch.ones(3))


order = torch.randperm(20).tolist()
train_set = Subset(Pictures(transform=lambda picture: picture * 10), order[:16])
val_set = Subset(Pictures(transform=lambda picture: picture), order[16:])
result = {"train": train_set[0].max().item(), "val": val_set[0].max().item()}
