import torch
from torch.utils.data import Dataset
from torchvision import tv_tensors
from torchvision.transforms import v2

transform = v2.RandomHorizontalFlip()


class Pairs(Dataset):
    def __len__(self) -> int:
        return 100

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        image = torch.arange(8.0).expand(1, 4, 8)
        mask = tv_tensors.Mask(image.clone())
        return transform(tv_tensors.Image(image), mask)


pairs = Pairs()
result = {"misaligned": sum(not bool((a == b).all()) for a, b in (pairs[i] for i in range(len(pairs))))}
