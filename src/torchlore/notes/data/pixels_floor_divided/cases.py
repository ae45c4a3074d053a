import numpy as np
import torch
from PIL import Image


def load(path, mask_path):
    image = np.array(Image.open(path))
    image = image // 255.0  # trap: pixels-floor-divided
    mask = np.array(Image.open(mask_path)) // 255
    return torch.from_numpy(image).float(), torch.from_numpy(mask).long()


def batch(model, loader, device):
    for inputs, labels in loader:
        inputs = inputs.to(device)
        inputs //= 255  # trap: pixels-floor-divided
        model(inputs.float())
        labels = labels // 255


def numbers(count, image, seg):
    rows = count // 255
    tiles = image.size // 255
    wide = image.shape[1] // 255
    binary = (image > 127) // 1
    return rows, tiles, wide, binary, seg // 255
