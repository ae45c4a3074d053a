import cv2
import numpy as np
import torch
from torch.utils.data import Dataset
from torchvision.io import read_image


class Frames(Dataset):
    def __init__(self, clip, base):
        self.now = torch.from_numpy(clip.astype(np.uint8))
        self.before = torch.from_numpy((clip + base).astype("uint8"))
        self.wide = torch.from_numpy(clip.astype(np.float32))

    def __len__(self):
        return len(self.now)

    def __getitem__(self, i):
        motion = (self.now[i] - self.before[i]).float() / 16  # trap: bytes-wrap-around
        right = self.now[i].float() - self.before[i].float()
        return motion, right, self.wide[i] - self.before[i], self.now[i].int() - self.before[i].int()


def flow(first, second, out):
    one, two = cv2.imread(first), cv2.imread(second)
    moved = np.abs(two - one).mean()  # trap: bytes-wrap-around
    old, new = read_image(first), read_image(second)
    change = new - old  # trap: bytes-wrap-around
    return moved, change, cv2.absdiff(one, two), two.astype(np.int16) - one, 255 - one, one - one.min()


def masks(a, b, image):
    outer, inner = (a > 0).astype(np.uint8), (b > 0).astype(np.uint8)
    ring = outer - inner
    image = image.to(torch.uint8)
    image = image.float()
    return ring, image - image.mean(), image - torch.zeros(3, dtype=torch.uint8)
