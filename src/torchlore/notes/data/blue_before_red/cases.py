import cv2
import torch
from torch.utils.data import Dataset
from torchvision import transforms

normal = transforms.Compose(
    [transforms.ToTensor(), transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))]
)


class Cars(Dataset):
    def __init__(self, paths, labels):
        self.paths, self.labels = paths, labels

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        image = cv2.imread(self.paths[i])  # trap: blue-before-red
        image = cv2.resize(image, (224, 224))
        return normal(image), self.labels[i]


class Masks(Dataset):
    def __init__(self, paths, masks):
        self.paths, self.masks = paths, masks

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        mask = cv2.imread(self.masks[i])
        gray = cv2.imread(self.paths[i], cv2.IMREAD_GRAYSCALE)
        plain = cv2.imread(self.paths[i], 0)
        return torch.from_numpy(gray), torch.from_numpy(plain), torch.from_numpy(mask[..., 0])


def show(path):
    cv2.imshow("picture", cv2.imread(path))
