"""Other spellings of negative-step-slice, and code that only looks like it."""
import numpy as np
import torch
from torch.nn import functional as F

x = torch.rand(2, 3, 4)
a = x[::-1]  # trap: negative-step-slice
b = x[:, :, ::-1]  # trap: negative-step-slice
c = F.relu(x)[..., ::-2]  # trap: negative-step-slice
d = x[0, 5:1:-1]  # trap: negative-step-slice

# clean
e = x.flip(0)
names = ["a", "b"][::-1]
array = np.arange(3)[::-1]
shape = x.shape[::-1]
back = x.numpy()[::-1].copy()
every_other = x[::2]


def reverse(sequence):
    return sequence[::-1]


def swapped_coordinates(mask):
    both = torch.rand(2, 2).nonzero(as_tuple=True)
    rows_and_columns = torch.where(mask)
    return both[::-1], rows_and_columns[::-1]


def flipped(image, chance):
    if chance < 0.5:
        image = image[:, ::-1]
    whole = torch.from_numpy(image)  # trap: negative-step-slice
    colours = torch.from_numpy(image[:, :, ::-1].transpose(2, 0, 1))  # trap: negative-step-slice
    mirrored = torch.from_numpy(np.fliplr(image))  # trap: negative-step-slice
    return whole, colours, mirrored, torch.from_numpy(image[:, ::-1].copy()), torch.from_numpy(image[::2] / 255)
