import torch
from torch.utils.data import Dataset
from torchvision.transforms import v2

transform = v2.RandomHorizontalFlip()


class Pairs(Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, index):
        image = torch.arange(8.0).expand(1, 4, 8)
        mask = image.clone()
        image = transform(image)
        mask = transform(mask)  # trap: paired-random-transform
        return image, mask


pairs = Pairs()
result = {"misaligned": sum(not torch.equal(*pairs[i]) for i in range(len(pairs)))}
