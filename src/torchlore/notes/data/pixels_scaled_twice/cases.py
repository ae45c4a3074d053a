import cv2
import numpy as np
import torch
import torchvision.transforms.functional as TF
from PIL import Image
from torchvision import transforms

tf = transforms.Compose([transforms.Resize(32), transforms.ToTensor()])
normalised = transforms.Compose([transforms.ToTensor(), transforms.Normalize(0.5, 0.5)])


def wrong(path, picture):
    a = TF.to_tensor(picture) / 255.0  # trap: pixels-scaled-twice
    b = tf(picture)
    b /= 255  # trap: pixels-scaled-twice
    image = np.array(Image.open(path)).astype(np.float32)  # trap: pixels-scaled-twice
    c = tf(image)
    d = transforms.ToTensor()(cv2.imread(path).astype("float32"))  # trap: pixels-scaled-twice
    return a, b, c, d


def clean(path, picture, array):
    a = torch.from_numpy(array).float() / 255
    b = tf(Image.open(path))
    c = normalised(picture)
    scaled = np.array(Image.open(path)).astype(np.float32) / 255
    d = TF.to_tensor(scaled)
    e = TF.pil_to_tensor(picture) / 255
    f = tf(array.astype(np.float32))
    g = tf(picture) * 255 / 2
    return a, b, c, d, e, f, g, b * 2 / 3


class Photos(torch.utils.data.Dataset):
    def __init__(self, files):
        self.files = files
        self.transform = transforms.Compose([transforms.ToTensor(), transforms.Normalize([0.5] * 3, [0.5] * 3)])
        drawn = np.random.default_rng(0).integers(0, 256, size=(9, 8, 8, 1))
        self.pixels = drawn.astype(np.float32)  # trap: pixels-scaled-twice
        self.bytes = drawn.astype(np.uint8)
        self.scaled = drawn.astype(np.float32) / 255
        self.table = np.random.default_rng(0).integers(0, 5, size=(9, 8, 8, 1)).astype(np.float32)

    def __getitem__(self, i):
        image = cv2.imread(self.files[i]).astype(np.float32)  # trap: pixels-scaled-twice
        other = np.array(Image.open(self.files[i]).convert("RGB"), dtype=np.float32)  # trap: pixels-scaled-twice
        a = self.transform(image)
        b = self.transform(other)
        c = self.transform(self.pixels[i])
        return a, b, c, self.transform(self.bytes[i]), self.transform(self.scaled[i])


imagenet = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))])
back_to_255 = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0, 0, 0), (0.00392, 0.00392, 0.00392))])


def after_normalising(picture):
    return imagenet(picture) / 255, back_to_255(picture) / 255  # trap: pixels-scaled-twice
